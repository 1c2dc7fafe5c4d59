import type { KubernetesObject } from '../../meta.ts';
import { label } from '../labels.ts';

/**
 * The BundleDeployment that a Bundle was generated for; undefined for any other object. A Bundle in
 * the content of a deployment has the deployment's labels too, but belongs to its ApplySet.
 */
export function generatedFor({ kind, metadata }: KubernetesObject): string | undefined {
  const { labels = {} } = metadata;
  const generated =
    kind === 'Bundle' &&
    labels[label.ownerKind] === 'BundleDeployment' &&
    labels[label.templateHash] !== undefined &&
    labels[label.partOf] === undefined;
  return generated ? labels[label.ownerName] : undefined;
}

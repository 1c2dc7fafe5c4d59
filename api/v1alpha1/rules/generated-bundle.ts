import type { KubernetesObject } from '../../meta.ts';
import type { Bundle } from '../bundle.ts';
import type { BundleDeployment } from '../bundle-deployment.ts';
import { label } from '../labels.ts';
import { bundleName, templateHash } from './template-hash.ts';

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

/** Whether the deployment is the Bundle's controller. */
export function isOwn({ metadata }: Bundle, deployment: BundleDeployment): boolean {
  const { uid } = deployment.metadata;
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) === true;
}

/**
 * Whether a Bundle was made from the deployment's template of that hash. Its labels alone are no
 * proof: everybody who may create Bundles can write them, and could make the deployment install
 * other content.
 */
export function isMadeFrom(
  { metadata, spec }: Bundle,
  { metadata: { name = '' }, spec: { template } }: BundleDeployment,
  hash: string,
): boolean {
  if (metadata.labels?.[label.ownerName] !== name) return false;
  if (metadata.labels[label.ownerKind] !== 'BundleDeployment') return false;
  if (metadata.labels[label.templateHash] !== hash) return false;
  return metadata.name === bundleName(name, hash) && templateHash({ ...template, spec }) === hash;
}

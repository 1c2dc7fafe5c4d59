import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/template-hash.ts';

/**
 * Whether a Bundle is the one that the deployment's template of that hash asks for. Its labels alone
 * say nothing: whoever may create Bundles can write them, and would have the deployment install
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

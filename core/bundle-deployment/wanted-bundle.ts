import type { BundleDeployment, BundleTemplate } from '../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/template-hash.ts';

const hashes = new WeakMap<BundleTemplate, string>();

/** The name of the Bundle that a deployment's template asks for. */
export function wantedBundle({ metadata, spec: { template } }: BundleDeployment): string {
  const hash = hashes.get(template) ?? templateHash(template);
  hashes.set(template, hash);
  return bundleName(metadata.name ?? '', hash);
}

/** True where the Bundle of the template was installed, whatever came of it since. */
export function isBroughtOut(deployment: BundleDeployment): boolean {
  return deployment.status?.activeBundle === wantedBundle(deployment);
}

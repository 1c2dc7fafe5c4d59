import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/template-hash.ts';

/** Name of the Bundle that a deployment's template asks for. */
export function templateBundle({ metadata, spec }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(spec.template));
}

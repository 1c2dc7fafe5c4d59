import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleName, templateHash } from '../../core/bundle-deployment/index.ts';

/** Name of the Bundle that a deployment's template asks for. */
export function templateBundle({ metadata, spec }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(spec.template));
}

import type { BundleDeployment } from './bundle-deployment.ts';
import { annotation } from './labels.ts';
import { notedValue } from './noted-value.ts';

/**
 * Where namespaced objects go that name no namespace. What is installed stays where it is, whatever
 * the spec asks for since, and wherever the system runs by now; also where a restore has lost the status.
 */
export function installNamespaceOf(
  { metadata, spec, status = {} }: Pick<BundleDeployment, 'metadata' | 'spec' | 'status'>,
  systemNamespace: string,
): string {
  const { activeBundle = '', installNamespace } = status;
  const noted = notedValue(metadata, annotation.installNamespace);
  if (activeBundle !== '') return installNamespace ?? noted ?? systemNamespace;
  return noted ?? spec.installNamespace ?? installNamespace ?? systemNamespace;
}

/**
 * Whether that is a namespace that somebody has named, or one that it is installed in already. What
 * core is about to try is noted in the status, and says nothing.
 */
export function hasInstallNamespace({
  metadata,
  spec,
  status = {},
}: Pick<BundleDeployment, 'metadata' | 'spec' | 'status'>): boolean {
  const noted = notedValue(metadata, annotation.installNamespace);
  return (noted ?? spec.installNamespace ?? (status.activeBundle || undefined)) !== undefined;
}

import type { BundleDeployment } from '../bundle-deployment.ts';
import { annotation } from '../labels.ts';
import { notedValue } from './noted-value.ts';

/**
 * Namespace for namespaced objects that name none. Installed objects stay in their namespace,
 * whatever the spec says since, even if the system has moved or a restore has lost the status.
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
 * Whether somebody has named that namespace, or objects are installed in it already. The namespace
 * of a mere attempt in the status does not count.
 */
export function hasInstallNamespace({
  metadata,
  spec,
  status = {},
}: Pick<BundleDeployment, 'metadata' | 'spec' | 'status'>): boolean {
  const noted = notedValue(metadata, annotation.installNamespace);
  return (noted ?? spec.installNamespace ?? (status.activeBundle || undefined)) !== undefined;
}

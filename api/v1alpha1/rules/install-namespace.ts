import type { BundleDeployment } from '../bundle-deployment.ts';
import { annotation } from '../labels.ts';
import { notedValue } from './noted-value.ts';

/**
 * Namespace for namespaced objects that name none. Installed objects stay in their namespace,
 * whatever the spec says since, even if the system has moved or a restore has lost the status. The
 * annotation wins over the status, because users may have permission to write the status alone.
 */
export function installNamespaceOf(
  { metadata, spec, status = {} }: Pick<BundleDeployment, 'metadata' | 'spec' | 'status'>,
  systemNamespace: string,
): string {
  const noted = notedValue(metadata, annotation.installNamespace);
  if (noted !== undefined) return noted;
  const { activeBundle = '', installNamespace } = status;
  // Core writes the annotation before the first object.
  if (activeBundle === '') return spec.installNamespace ?? systemNamespace;
  return installNamespace ?? systemNamespace;
}

/**
 * The namespace in the status, if only the status says that objects are installed there: somebody
 * has removed the annotation, or written the status.
 */
export function unconfirmedNamespace(
  { metadata, spec, status = {} }: Pick<BundleDeployment, 'metadata' | 'spec' | 'status'>,
  systemNamespace: string,
): string | undefined {
  const { activeBundle = '', installNamespace } = status;
  const noted = notedValue(metadata, annotation.installNamespace);
  if (noted !== undefined || activeBundle === '') return undefined;
  const wanted = spec.installNamespace ?? systemNamespace;
  return installNamespace === wanted ? undefined : installNamespace;
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

import type { BundleDeployment } from './bundle-deployment.ts';

/**
 * Where namespaced objects go that name no namespace. What is installed stays where it is, whatever
 * the spec asks for since, and wherever the system runs by now.
 */
export function installNamespaceOf(
  { spec, status = {} }: Pick<BundleDeployment, 'spec' | 'status'>,
  systemNamespace: string,
): string {
  const { activeBundle = '', installNamespace } = status;
  if (activeBundle !== '') return installNamespace ?? systemNamespace;
  return spec.installNamespace ?? installNamespace ?? systemNamespace;
}

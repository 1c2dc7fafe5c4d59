import type { Installation } from '../../provisioners/registry/installation.ts';

/** As a bundle of package `pkg` is installed without a config, with these fields replaced. */
export function anInstallation(fields: Partial<Installation> = {}): Installation {
  return {
    installNamespace: 'pkg-system',
    createsNamespace: true,
    targetNamespaces: [''],
    configured: false,
    overrides: {},
    ...fields,
  };
}

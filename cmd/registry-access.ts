import { imagePullerOptions } from '../core/manager/index.ts';
import { RegistryAccess, type RegistryAccessOptions } from '../core/registry/index.ts';
import { loginKeychain } from './ctl/content/load-content.ts';
import type { RegistryFlags } from './registry-flags.ts';

/**
 * Access to images of registries and OCI layouts by the flags, with the logins of container tools;
 * `change` has the last word.
 */
export async function registryAccess(
  flags: RegistryFlags,
  change: (options: RegistryAccessOptions) => RegistryAccessOptions = (options) => options,
): Promise<RegistryAccess> {
  const { caCertificates, ...options } = await imagePullerOptions(flags);
  return new RegistryAccess(
    change({
      ...options,
      caCertificates: caCertificates === undefined ? [] : [caCertificates],
      keychain: await loginKeychain(),
    }),
  );
}

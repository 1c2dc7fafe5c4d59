import {
  type ImageVerifier,
  RegistryAccess,
  type RegistryAccessOptions,
  readRegistrySettings,
} from '../core/registry/index.ts';
import { loginKeychain } from './login-keychain.ts';
import type { RegistryFlags } from './registry-flags.ts';

/**
 * Access to images of registries and OCI layouts by the flags, with the logins of container tools;
 * `change` has the last word.
 */
export async function registryAccess(
  flags: RegistryFlags,
  change: (options: RegistryAccessOptions) => RegistryAccessOptions = (options) => options,
): Promise<RegistryAccess> {
  const { caCertificates, ...options } = readRegistrySettings(flags);
  return new RegistryAccess(
    change({
      ...options,
      caCertificates: caCertificates === undefined ? [] : [caCertificates],
      keychain: await loginKeychain(),
      verifier: await imageVerifier(flags),
    }),
  );
}

/** Loaded for those who have a policy: verifying needs a lot of code. */
async function imageVerifier(flags: RegistryFlags): Promise<ImageVerifier | undefined> {
  if (flags.imagePolicy === undefined && flags.sigstoreTrustedRoot === undefined) return undefined;
  const { imagePullerOptions } = await import('../core/manager/index.ts');
  const { verifier } = await imagePullerOptions(flags);
  return verifier;
}

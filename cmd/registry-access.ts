import {
  emptyKeychain,
  type ImageVerifier,
  RegistryAccess,
  type RegistryAccessOptions,
  readRegistrySettings,
} from '../core/registry/index.ts';
import type { RegistryFlags } from './flags/registry-flags.ts';
import type { AddressFlags } from './flags/source-flags.ts';
import { loginKeychain } from './login-keychain.ts';

/**
 * Access to images of registries and OCI layouts by the flags, with the logins of container tools;
 * `change` has the last word.
 */
export async function registryAccess(
  flags: RegistryFlags,
  change: (options: RegistryAccessOptions) => RegistryAccessOptions = (options) => options,
): Promise<RegistryAccess> {
  const keychain = await loginKeychain();
  return new RegistryAccess(change({ ...(await accessOptions(flags)), keychain }));
}

/**
 * The same for a process of the cluster: without anybody's logins, and bound to addresses.
 * @param note receives each setting that has no effect
 */
export async function processRegistryAccess(
  flags: RegistryFlags & AddressFlags,
  userAgent: string,
  note: (text: string) => void,
): Promise<RegistryAccess> {
  const addresses = { allow: flags.allowSourceAddress, deny: flags.denySourceAddress };
  const options = await accessOptions(flags, note);
  return new RegistryAccess({ ...options, keychain: emptyKeychain, userAgent, addresses });
}

async function accessOptions(
  flags: RegistryFlags,
  note?: (text: string) => void,
): Promise<Omit<RegistryAccessOptions, 'keychain'>> {
  const { caCertificates, ...options } = readRegistrySettings(flags, note);
  return {
    ...options,
    caCertificates: caCertificates === undefined ? [] : [caCertificates],
    verifier: await imageVerifier(flags),
  };
}

/** Loaded for those who have a policy: verifying needs a lot of code. */
async function imageVerifier(flags: RegistryFlags): Promise<ImageVerifier | undefined> {
  if (flags.imagePolicy === undefined && flags.sigstoreTrustedRoot === undefined) return undefined;
  const { imagePullerOptions } = await import('../core/manager/index.ts');
  const { verifier } = await imagePullerOptions(flags);
  return verifier;
}

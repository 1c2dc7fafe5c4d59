import type { RegistryAccess } from '../../core/registry/index.ts';
import type { FlagValues } from './cobra/flag-values.ts';
import { tlsOptions } from './registry-flags.ts';
import { systemRegistries } from './system-registries.ts';

/**
 * Registries with the settings and logins of the machine's container tools, opened when they are
 * needed. Those of the images are spoken to without TLS where the flags say so.
 * @throws Error in opm's words, where flags contradict each other
 */
export function systemAccess(
  flags: FlagValues,
  images: readonly string[],
): () => Promise<RegistryAccess> {
  const { skipTlsVerify, useHttp } = tlsOptions(flags);
  return async () => {
    const [{ registryAccess }, { parseImageReference }] = await Promise.all([
      import('../registry-access.ts'),
      import('../../core/registry/index.ts'),
    ]);
    /** None of what is no reference, such as a path. */
    function hostOf(image: string): readonly string[] {
      try {
        return [parseImageReference(image).domain];
      } catch {
        return [];
      }
    }
    const insecureRegistry = skipTlsVerify || useHttp ? images.flatMap(hostOf) : [];
    return await registryAccess({ ...systemRegistries(), insecureRegistry });
  };
}

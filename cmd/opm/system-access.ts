import type { RegistriesConfig, RegistryAccess } from '../../core/registry/index.ts';
import type { FlagValues } from './cobra/flag-values.ts';
import { type TlsOptions, tlsOptions } from './registry-flags.ts';

export interface AccessOptions extends Partial<TlsOptions> {
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCertificates?: string;
}

/**
 * Registries with the settings and logins of the machine's container tools, opened when they are
 * needed. How those of the images are spoken to, the flags say.
 * @throws Error in opm's words, where flags contradict each other
 */
export function systemAccess(
  flags: FlagValues,
  images: readonly string[],
): () => Promise<RegistryAccess> {
  const options = tlsOptions(flags);
  return async () => await accessTo(images, options);
}

/** The same at once, for the registries of these images. */
export async function accessTo(
  images: readonly string[],
  { useHttp = false, skipTlsVerify = false, caCertificates }: AccessOptions,
): Promise<RegistryAccess> {
  const [{ registryAccess }, { systemRegistries }, { parseImageReference }] = await Promise.all([
    import('../registry-access.ts'),
    import('./system-registries.ts'),
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
  const hosts = images.flatMap(hostOf);
  const flags = { ...systemRegistries(), insecureRegistry: useHttp ? hosts : [] };
  return await registryAccess(flags, (options) => ({
    ...options,
    ...(skipTlsVerify && { registries: unverified(options.registries, hosts) }),
    ...(caCertificates !== undefined && {
      caCertificates: [...options.caCertificates, caCertificates],
    }),
  }));
}

/** Certificates of these hosts are not checked, and they may speak plain HTTP. */
function unverified(
  config: RegistriesConfig | undefined,
  hosts: readonly string[],
): RegistriesConfig {
  const others = config?.registries.filter(({ prefix }) => !hosts.includes(prefix)) ?? [];
  const rules = [...new Set(hosts)].map((prefix) => ({
    prefix,
    location: undefined,
    blocked: false,
    mirrorByDigestOnly: false,
    insecure: true,
    mirrors: [],
  }));
  return { registries: [...others, ...rules] };
}

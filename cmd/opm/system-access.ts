import type { RegistriesConfig, RegistryAccess } from '../../core/registry/index.ts';
import type { FlagValues } from './cobra/flag-values.ts';
import { type TlsOptions, tlsOptions } from './registry-flags.ts';

export interface AccessOptions extends Partial<TlsOptions> {
  /** PEM certificates of CAs to trust in addition to the system's. */
  readonly caCertificates?: string;
}

/**
 * Access to registries with the settings and logins of the machine's container tools, opened on
 * demand. The flags set TLS for the registries of `images`.
 * @throws Error with opm's text for contradicting flags
 */
export function systemAccess(
  flags: FlagValues,
  images: readonly string[],
): () => Promise<RegistryAccess> {
  const options = tlsOptions(flags);
  return async () => await accessTo(images, options);
}

/** Opens the access immediately; the options apply to the registries of these images. */
export async function accessTo(
  images: readonly string[],
  { useHttp = false, skipTlsVerify = false, caCertificates }: AccessOptions,
): Promise<RegistryAccess> {
  const [{ registryAccess }, { systemRegistries }, { parseImageReference }] = await Promise.all([
    import('../registry-access.ts'),
    import('./system-registries.ts'),
    import('../../core/registry/index.ts'),
  ]);
  /** Empty for a text that is not a reference, such as a path. */
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

/** Skips the certificate check for these hosts, and allows plain HTTP. */
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

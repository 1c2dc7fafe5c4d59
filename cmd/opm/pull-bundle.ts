import { defaultLimits } from '../../core/content/index.ts';
import { TerminalError } from '../../core/errors.ts';
import { imagePullerOptions } from '../../core/manager/index.ts';
import { parseImageReference, type RegistriesConfig } from '../../core/registry/index.ts';
import type { BundleFiles } from '../../core/sdk.ts';
import { ImagePuller, type ImagePullerOptions } from '../../core/sources/index.ts';
import { loginKeychain } from '../ctl/content/load-content.ts';
import type { TlsOptions } from './registry-flags.ts';
import { systemRegistries } from './system-registries.ts';

export interface PullBundleOptions extends Partial<TlsOptions> {
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCertificates?: string;
  readonly signal: AbortSignal;
}

/**
 * The files of an image, pulled with the settings and logins of the machine's container tools.
 * @throws TerminalError where the reference is none, or the image cannot be had
 */
export async function pullBundle(
  reference: string,
  { signal, caCertificates, ...tls }: PullBundleOptions,
): Promise<BundleFiles> {
  const domain = hostOf(reference);
  const options = await imagePullerOptions(systemRegistries());
  const puller = new ImagePuller({
    ...withTls(options, domain, tls),
    ...(caCertificates === undefined ? {} : { caCertificates }),
    userAgent: 'opm',
  });
  const keychain = await loginKeychain();
  const { files } = await puller.pull(reference, { limits: defaultLimits, keychain, signal });
  return files;
}

/** @throws TerminalError in opm's words. */
function hostOf(reference: string): string {
  try {
    return parseImageReference(reference).domain;
  } catch (error) {
    const name = reference.replace(/^[^/]*[.:][^/]*\//, '').replace(/[:@].*$/, '');
    const why = /[A-Z]/.test(name) ? ': repository name must be lowercase' : '';
    throw new TerminalError(`invalid reference format${why}`, { cause: error });
  }
}

function withTls(
  options: ImagePullerOptions,
  host: string,
  { useHttp = false, skipTlsVerify = false }: Partial<TlsOptions>,
): ImagePullerOptions {
  if (useHttp) return { ...options, insecureRegistries: [host] };
  return skipTlsVerify ? { ...options, registries: unverified(options.registries, host) } : options;
}

/** The host's certificate is not checked, and it may speak plain HTTP. */
function unverified(config: RegistriesConfig | undefined, host: string): RegistriesConfig {
  const rule = { prefix: host, location: undefined, blocked: false, mirrorByDigestOnly: false };
  const others = config?.registries.filter(({ prefix }) => prefix !== host) ?? [];
  return { registries: [...others, { ...rule, insecure: true, mirrors: [] }] };
}

import { readFileSync } from 'node:fs';
import { errorMessage } from '../../errors.ts';
import { systemClock } from '../../platform/clock.ts';
import { proxyFromEnvironment } from '../../platform/net/index.ts';
import type { ImagePullerOptions } from '../../sources/index.ts';
import type { RegistryOptions } from './registry-options.ts';

/**
 * Reads the files that the options name, and the proxies of the environment.
 * @param note is told of each setting that has no effect
 * @throws Error that names the flag, file or variable that cannot be used
 */
export async function imagePullerOptions(
  options: RegistryOptions,
  note: (text: string) => void = () => undefined,
): Promise<ImagePullerOptions> {
  // Not needed by all of rukpakctl, and slow to load.
  const image = await import('../../registry/index.ts');
  const { registryCaFile, registryCertsDir, registriesConf } = options;
  const registries = optional(registriesConf, image.readRegistriesConf);
  for (const text of registries?.ignored ?? []) note(text);
  return {
    insecureRegistries: options.insecureRegistry ?? [],
    caCertificates: optional(registryCaFile, readCertificates),
    hostCertificates: optional(registryCertsDir, image.readRegistryCertificates),
    registries,
    proxy: proxyFromEnvironment(),
    verifier: await imageVerifier(options),
    clock: systemClock,
  };
}

async function imageVerifier({
  imagePolicy,
  sigstoreTrustedRoot,
}: RegistryOptions): Promise<ImagePullerOptions['verifier']> {
  if (imagePolicy === undefined) {
    if (sigstoreTrustedRoot === undefined) return undefined;
    throw new Error('--sigstore-trusted-root has no effect without --image-policy');
  }
  const { readImageVerifier } = await import('../../sources/image/signatures/index.ts');
  return readImageVerifier(imagePolicy, sigstoreTrustedRoot);
}

function optional<T>(value: string | undefined, read: (value: string) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read --registry-ca-file: ${errorMessage(error)}`, { cause: error });
  }
}

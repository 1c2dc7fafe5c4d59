import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../core/clock.ts';
import { errorMessage } from '../core/errors.ts';
import type { ImagePullerOptions } from '../core/sources/image/index.ts';
import { collect } from './flag-values.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';

/** How registries are reached. */
export interface RegistryFlags {
  readonly insecureRegistry: readonly string[];
  readonly registryCaFile?: string;
  readonly registryCertsDir?: string;
  readonly registriesConf?: string;
  readonly imagePolicy?: string;
  readonly sigstoreTrustedRoot?: string;
}

export function addRegistryFlags(command: Command): Command {
  return command
    .option(
      '--insecure-registry <host[:port]>',
      'registry to use over HTTP; repeatable',
      collect,
      [],
    )
    .option('--registry-ca-file <path>', 'more CAs (PEM) to trust for registries')
    .option(
      '--registry-certs-dir <dir>',
      'CAs and client certificates by registry, laid out as /etc/containers/certs.d',
    )
    .option(
      '--registries-conf <path>',
      'mirrors and blocked registries, in the format of containers-registries.conf; with <path>.d/*.conf',
    )
    .option('--image-policy <path>', 'who must have signed which images, as ClusterImagePolicies')
    .option('--sigstore-trusted-root <path>', 'trusted_root.json for signatures without a key');
}

/**
 * Reads the files that the flags name, and the proxies of the environment.
 * @param note is told of each setting that has no effect
 * @throws Error that names the flag, file or variable that cannot be used
 */
export async function registryOptions(
  flags: RegistryFlags,
  note: (text: string) => void = () => undefined,
): Promise<ImagePullerOptions> {
  // Not needed by all of rukpakctl, and slow to load.
  const image = await import('../core/sources/image/index.ts');
  const { registryCaFile, registryCertsDir, registriesConf } = flags;
  const registries = optional(registriesConf, image.readRegistriesConf);
  for (const text of registries?.ignored ?? []) note(text);
  return {
    insecureRegistries: flags.insecureRegistry,
    caCertificates: optional(registryCaFile, readCertificates),
    hostCertificates: optional(registryCertsDir, image.readRegistryCertificates),
    registries,
    proxy: proxyFromEnvironment(),
    verifier: await imageVerifier(flags),
    clock: systemClock,
  };
}

async function imageVerifier({
  imagePolicy,
  sigstoreTrustedRoot,
}: RegistryFlags): Promise<ImagePullerOptions['verifier']> {
  if (imagePolicy === undefined) {
    if (sigstoreTrustedRoot === undefined) return undefined;
    throw new Error('--sigstore-trusted-root has no effect without --image-policy');
  }
  const { readImageVerifier } = await import('../core/sources/image/signatures/index.ts');
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

import { readFileSync } from 'node:fs';
import { errorMessage } from '../../errors.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { proxyFromEnvironment } from '../../platform/net/index.ts';
import type { RegistriesConfig } from '../configuration/pull-places.ts';
import { readRegistriesConf } from '../configuration/registries-conf.ts';
import {
  type RegistryCertificates,
  readRegistryCertificates,
} from '../configuration/registry-certificates.ts';

/** Files with settings for registries, by the flags that name them. */
export interface RegistryFiles {
  /** Registries (`host[:port]`) to use over HTTP. */
  readonly insecureRegistry?: readonly string[];
  /** PEM file of trusted CAs in addition to the system's. */
  readonly registryCaFile?: string;
  /** Folder of CAs and client certificates by registry, in the layout of /etc/containers/certs.d. */
  readonly registryCertsDir?: string;
  /** Mirrors and blocked registries, in the format of containers-registries.conf. */
  readonly registriesConf?: string;
}

export interface RegistrySettings {
  readonly insecureRegistries: readonly string[];
  /** PEM. */
  readonly caCertificates: string | undefined;
  readonly hostCertificates: RegistryCertificates | undefined;
  readonly registries: RegistriesConfig | undefined;
  readonly proxy: ReturnType<typeof proxyFromEnvironment>;
  readonly clock: Clock;
}

/**
 * Reads the files, and the proxies of the environment.
 * @param note receives each setting that has no effect
 * @throws Error that names the unusable flag, file or variable
 */
export function readRegistrySettings(
  files: RegistryFiles,
  note: (text: string) => void = () => undefined,
): RegistrySettings {
  const { registryCaFile, registryCertsDir, registriesConf } = files;
  const registries = optional(registriesConf, readRegistriesConf);
  for (const text of registries?.ignored ?? []) note(text);
  return {
    insecureRegistries: files.insecureRegistry ?? [],
    caCertificates: optional(registryCaFile, readCertificates),
    hostCertificates: optional(registryCertsDir, readRegistryCertificates),
    registries,
    proxy: proxyFromEnvironment(),
    clock: systemClock,
  };
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

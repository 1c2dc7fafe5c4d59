import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { proxyFromEnvironment } from '../../../core/platform/net/index.ts';
import {
  emptyKeychain,
  type Keychain,
  parseDockerConfig,
  RegistryAccess,
} from '../../../core/registry/index.ts';

export interface ReleaseRegistries {
  /** Hosts (`host[:port]`) to use over plain HTTP. */
  readonly insecureRegistries: readonly string[];
  /** Folder of Docker's config.json (default: that of `docker login`). */
  readonly dockerConfig?: string | undefined;
}

/** Registries, with the credentials of `docker login`. */
export async function releaseRegistries(options: ReleaseRegistries): Promise<RegistryAccess> {
  return new RegistryAccess({
    insecureRegistries: options.insecureRegistries,
    caCertificates: [],
    keychain: await dockerKeychain(options.dockerConfig),
    proxy: proxyFromEnvironment(process.env),
    userAgent: 'rukpak-ts-release',
    clock: systemClock,
  });
}

async function dockerKeychain(folder = process.env['DOCKER_CONFIG']): Promise<Keychain> {
  const file = join(folder ?? join(homedir(), '.docker'), 'config.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return emptyKeychain;
  try {
    return parseDockerConfig(text, 'config.json');
  } catch (error) {
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

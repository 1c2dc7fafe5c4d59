import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { proxyFromEnvironment } from '../../../core/platform/net/index.ts';
import {
  emptyKeychain,
  type ImageReference,
  type Keychain,
  parseDockerConfig,
  RegistryClient,
  TokenService,
  Transport,
} from '../../../core/registry/index.ts';

export interface RegistryAccess {
  /** Hosts (`host[:port]`) that are spoken to over plain HTTP. */
  readonly insecureRegistries: readonly string[];
  /** Where Docker's config.json lies; what `docker login` writes for the user where absent. */
  readonly dockerConfig?: string | undefined;
}

/** A repository, with the credentials that `docker login` has kept for it. */
export async function openRepository(
  reference: ImageReference,
  actions: 'pull' | 'pull,push',
  access: RegistryAccess,
): Promise<RegistryClient> {
  const keychain = await dockerKeychain(access.dockerConfig);
  return new RegistryClient(reference, {
    transport: new Transport({
      insecureRegistries: access.insecureRegistries,
      caCertificates: [],
      proxy: proxyFromEnvironment(process.env),
      userAgent: 'rukpak-ts-release',
      clock: systemClock,
    }),
    tokens: new TokenService(systemClock),
    credentials: keychain.credentialsFor(reference)[0],
    actions,
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

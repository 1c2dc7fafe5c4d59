import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { Keychain } from '../../core/registry/index.ts';

/** What `docker login` stored; empty where there is nothing. Credential helpers are not asked. */
export async function dockerKeychain(): Promise<Keychain> {
  const [{ emptyKeychain, parseDockerConfig }, { homeFolder }] = await Promise.all([
    import('../../core/registry/index.ts'),
    import('../../core/platform/kube/index.ts'),
  ]);
  const directory = process.env['DOCKER_CONFIG'] ?? join(homeFolder(), '.docker');
  const file = join(directory, 'config.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return emptyKeychain;
  try {
    return parseDockerConfig(text, 'config.json');
  } catch (error) {
    throw new TerminalError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, TerminalError } from '../core/errors.ts';
import { homeFolder } from '../core/platform/kube/index.ts';
import type { Keychain } from '../core/registry/index.ts';

/**
 * Credentials of `podman login`, `skopeo login` or `docker login`, in the order of
 * containers-auth.json(5); empty without any. Does not call credential helpers. A file that cannot be
 * read is skipped, and named when a registry denies access.
 */
export async function loginKeychain(): Promise<Keychain> {
  const { emptyKeychain, parseDockerConfig } = await import('../core/registry/index.ts');
  let unread: Pick<Keychain, 'shortcoming'> = {};
  for (const file of loginFiles(homeFolder(), process.env)) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      const isThere = error.code !== 'ENOENT' && error.code !== 'ENOTDIR';
      if (isThere) unread = { shortcoming: `the logins cannot be read: ${error.message}` };
      return undefined;
    });
    if (text === undefined) continue;
    try {
      return { ...unread, ...parseDockerConfig(text, 'config.json') };
    } catch (error) {
      throw new TerminalError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
    }
  }
  return { ...unread, ...emptyKeychain };
}

function loginFiles(home: string, env: NodeJS.ProcessEnv): readonly string[] {
  const { REGISTRY_AUTH_FILE: named, XDG_RUNTIME_DIR: runtime, DOCKER_CONFIG: docker } = env;
  if (named) return [named];
  return [
    ...(runtime ? [join(runtime, 'containers/auth.json')] : []),
    join(home, '.config/containers/auth.json'),
    join(docker ?? join(home, '.docker'), 'config.json'),
  ];
}

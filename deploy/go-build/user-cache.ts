import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Folder for files that this project builds or downloads once per user. */
export function userCache(env: NodeJS.ProcessEnv): string {
  const named = env['XDG_CACHE_HOME'] ?? '';
  // The XDG specification requires that relative paths are ignored.
  const base = isAbsolute(named) ? named : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'rukpak-ts');
}

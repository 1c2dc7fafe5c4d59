import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where this project keeps what it has built or downloaded once for this user. */
export function userCache(env: NodeJS.ProcessEnv): string {
  const named = env['XDG_CACHE_HOME'] ?? '';
  // The XDG specification has relative paths ignored.
  const base = isAbsolute(named) ? named : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'rukpak-ts');
}

import { homedir } from 'node:os';

/**
 * The user's home; the root for a user without one, where container runtimes put those too: a
 * cluster may run a pod as a user that the image does not know.
 */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

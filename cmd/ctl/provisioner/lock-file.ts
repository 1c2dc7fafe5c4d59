import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TerminalError } from '../../../core/errors.ts';
import { npmCause } from './npm-cause.ts';

/**
 * Has npm write package-lock.json, which `npm ci` installs from; nothing is installed yet.
 * @throws TerminalError that says what npm said, and what to do.
 */
export async function writeLockFile(folder: string, signal: AbortSignal): Promise<void> {
  const args = ['install', '--package-lock-only', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', args, { cwd: folder, signal });
  } catch (error) {
    signal.throwIfAborted();
    const cause = npmCause(error);
    const way = cause.includes('rukpak-ts')
      ? 'leave out --sdk to take the rukpak-ts that makes the project, or name a file that npm pack has made'
      : 'try again';
    throw new TerminalError(`npm cannot write the project's package-lock.json (${cause}): ${way}`, {
      cause: error,
    });
  }
}

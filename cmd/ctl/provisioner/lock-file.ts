import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errorMessage, TerminalError } from '../../../core/errors.ts';

/**
 * Has npm write package-lock.json, which `npm ci` installs from; nothing is installed yet.
 * @throws TerminalError that says what npm said, and what to run.
 */
export async function writeLockFile(folder: string): Promise<void> {
  const args = ['install', '--package-lock-only', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', args, { cwd: folder });
  } catch (error) {
    const cause = causeOf(error);
    const pack = cause.includes('rukpak-ts')
      ? ', or begin anew with --sdk and a file that npm pack has made'
      : '';
    throw new TerminalError(
      `the project is written, but not its package-lock.json (${cause}): run npm install in ${folder}${pack}`,
      { cause: error },
    );
  }
}

function causeOf(error: unknown): string {
  const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === 'ENOENT') return 'there is no npm on the PATH';
  if (stderr.includes('npm error code EBADENGINE')) return 'npm runs on a Node before 24';
  const said = stderr
    .split('\n')
    .filter((line) => /^npm error (?!code |A complete log)/.test(line))
    .map((line) => line.replace('npm error ', ''));
  return said[0] ?? errorMessage(error);
}

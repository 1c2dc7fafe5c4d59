import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TerminalError } from '../../../core/errors.ts';
import { packageRoot } from '../../build-info.ts';
import { npmCause } from './npm-cause.ts';
import { parseSdk, type Sdk } from './sdk.ts';

/**
 * Packs the rukpak-ts that this program is of into an empty folder: a project then has what has made
 * it, whether any registry has that or not.
 * @throws TerminalError that says what npm said.
 */
export async function packOwnPackage(destination: string, signal: AbortSignal): Promise<Sdk> {
  const root = packageRoot(import.meta.dirname);
  if (root === undefined)
    throw new TerminalError('this program is no part of a package: use --sdk');
  const isCheckout = existsSync(join(root, 'tsconfig.json'));
  // What is installed was built when it was packed, and its scripts would change it.
  const scripts = isCheckout ? [] : ['--ignore-scripts'];
  const args = ['pack', root, '--pack-destination', destination, '--loglevel=error', ...scripts];
  try {
    await promisify(execFile)('npm', args, { cwd: root, signal, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    signal.throwIfAborted();
    throw new TerminalError(`npm cannot pack ${root} for the project: ${npmCause(error)}`, {
      cause: error,
    });
  }
  const [name = ''] = await readdir(destination);
  return parseSdk(join(destination, name));
}

import { posix } from 'node:path';
import { TerminalError } from '../../errors.ts';

/** The tree path of `git.directory`, empty for the repository's root (spec section 3.2). */
export function bundleDirectory(directory: string | undefined, repository: string): string {
  if (directory === undefined || directory === '') return '';
  const clean = posix.normalize(directory).replace(/\/$/, '');
  if (clean === '..' || clean.startsWith('../') || clean.startsWith('/')) {
    throw new TerminalError(
      `get subdirectory "${directory}" for repository "${repository}": directory can not start with '../' or '/'`,
    );
  }
  return clean === '.' ? '' : clean;
}

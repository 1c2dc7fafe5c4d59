import { TerminalError } from '../../errors.ts';

/**
 * The tree path of `git.directory`, empty for the repository's root. Cleaned by
 * hand: node:path takes minutes for the hundred thousand parts that an object has room for.
 */
export function bundleDirectory(directory: string | undefined, repository: string): string {
  const parts: string[] = [];
  let outside = directory?.startsWith('/') === true;
  for (const part of (directory ?? '').split('/')) {
    if (part === '..') outside ||= parts.pop() === undefined;
    else if (part !== '' && part !== '.') parts.push(part);
  }
  if (!outside) return parts.join('/');
  throw new TerminalError(
    `get subdirectory "${directory}" for repository "${repository}": directory can not start with '../' or '/'`,
  );
}

import { randomUUID } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** End of the name of a file that one writer alone writes, until it is whole. */
const ending = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/;

/** A new name for a file while it is written. */
export function partialOf(path: string): string {
  return `${path}.${randomUUID()}.partial`;
}

/** The path that a partial file would have got; undefined for the name of any other file. */
export function wholeOf(partial: string): string | undefined {
  return ending.test(partial) ? partial.replace(ending, '') : undefined;
}

/** Partial files of a path, which killed writers have left. */
export async function partialsOf(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path));
  return names
    .filter((name) => wholeOf(name) === basename(path))
    .map((name) => join(dirname(path), name));
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { goFileError } from '../../../api/go-file-error.ts';
import { errorMessage } from '../../../core/errors.ts';

/** Content of a file, or of stdin for `-`. @throws Error with Go's text for file errors. */
export async function contentOf(path: string): Promise<Uint8Array> {
  if (path === '-') return await buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(goFileError(error, path) ?? errorMessage(error), { cause: error });
  }
}

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of inputs that a parser has failed on, with one folder for each target. */
export const corpusFolder = join(import.meta.dirname, 'corpus');

export interface CorpusEntry {
  readonly file: string;
  readonly input: Uint8Array;
}

/** What was kept of a target, in a fixed order. */
export async function readCorpus(target: string, folder = corpusFolder): Promise<CorpusEntry[]> {
  const place = join(folder, target);
  let names: string[];
  try {
    names = await readdir(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return await Promise.all(
    names.toSorted().map(async (name) => {
      const file = join(place, name);
      return { file, input: await readFile(file) };
    }),
  );
}

/** Saves an input under a name made from its content. */
export async function keep(target: string, input: Uint8Array, folder: string): Promise<string> {
  const place = join(folder, target);
  await mkdir(place, { recursive: true });
  const file = join(place, createHash('sha256').update(input).digest('hex').slice(0, 16));
  await writeFile(file, input);
  return file;
}

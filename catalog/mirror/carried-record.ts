import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { digestProblem, parseImageReference } from '../../core/registry/index.ts';
import type { CarriedImage } from './carried-images.ts';

/** Beside the OCI layout that holds the images: no part of the format is called so. */
const recordFile = 'mirror.json';

const catalogSchema = z.strictObject({ directory: z.string(), isPruned: z.boolean() });
const imageSchema = z
  .strictObject({
    source: z.string(),
    digest: z.string().refine((text) => digestProblem(text) === undefined, 'it is no digest'),
    path: z.string().refine(isReference, 'it is no repository'),
    tag: z.string().regex(/^\w[\w.-]{0,127}$/, 'it is no tag'),
    catalog: catalogSchema.optional(),
  })
  .refine(({ source, catalog }) => catalog?.isPruned === true || isReference(source), {
    path: ['source'],
    error: 'it is no image',
  });
const recordSchema = z.strictObject({ version: z.literal(1), images: z.array(imageSchema) });

/** Notes what a directory holds for the registry that it is pushed to. */
export async function writeRecord(
  directory: string,
  images: readonly CarriedImage[],
): Promise<void> {
  const text = `${JSON.stringify({ version: 1, images }, undefined, 2)}\n`;
  const path = join(directory, recordFile);
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

/** @throws TerminalError where no run has filled the directory to its end */
export async function readRecord(directory: string): Promise<readonly CarriedImage[]> {
  const path = join(directory, recordFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new TerminalError(
      `${directory} has no ${recordFile}: fill it with --config FILE --to ${directory}, and copy all of it`,
      { cause: error },
    );
  }
  try {
    return recordSchema.parse(JSON.parse(text)).images;
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const problem = issue === undefined ? errorMessage(error) : issueText(issue);
    throw new TerminalError(`cannot read ${path}: ${problem}`, { cause: error });
  }
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function isReference(text: string): boolean {
  try {
    parseImageReference(text);
    return true;
  } catch {
    return false;
  }
}

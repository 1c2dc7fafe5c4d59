import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobError } from '../../../catalog/blobs/index.ts';
import { configsLabel, unpackImage } from '../../../catalog/images/index.ts';
import { loadDirectory } from '../../../catalog/load/index.ts';
// This process needs no client of a cluster, which takes long to load.
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { openLayout } from '../../../core/registry/index.ts';
import { type ContentLimits, writeContent } from '../content/write-content.ts';

export interface UnpackLimits extends ContentLimits {
  /** Maximum bytes of all files of the catalog, and of its blobs as JSON. */
  readonly maxBytes: number;
  /** Maximum bytes of one file, which is in memory as a whole. */
  readonly maxFileBytes: number;
}

/** What to unpack, in JSON. */
export interface UnpackJob {
  /** Directory with an OCI layout of one image. */
  readonly layout: string;
  /** The image as the spec names it, for messages. */
  readonly ref: string;
  /** New directories for the catalog's files, and for the content to serve, in existing ones. */
  readonly files: string;
  readonly content: string;
  readonly limits: UnpackLimits;
}

/** Undefined, or why the image has no content; both of them only another image changes. */
export type UnpackProblem =
  | { readonly step: 'image' | 'content'; readonly message: string }
  | undefined;

/**
 * Makes content to serve of an image in an OCI layout.
 * @throws Error for what the image is not to blame for, such as a full disk
 */
export async function unpackCatalog(job: UnpackJob, signal: AbortSignal): Promise<UnpackProblem> {
  let step: 'image' | 'content' = 'image';
  try {
    const directory = await unpackFiles(job, signal);
    step = 'content';
    await mkdir(job.content);
    const blobs = loadDirectory(directory, { signal });
    await writeContent(job.content, blobs, { limits: job.limits, signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof TerminalError || error instanceof BlobError)) throw error;
    return { step, message: errorMessage(error) };
  }
}

/** The directory of the catalog, which the image's label names. */
async function unpackFiles(job: UnpackJob, signal: AbortSignal): Promise<string> {
  const { layout, ref, files, limits } = job;
  const image = await openLayout('layout', layout, { name: undefined, signal });
  try {
    const only = (labels: Readonly<Record<string, string>>): string =>
      pathOf(labels[configsLabel], ref);
    const links = 'hard';
    const labels = await unpackImage(image, files, { ...limits, only, links, signal });
    const directory = join(files, only(labels));
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return directory;
  } finally {
    await image.place.close();
  }
  throw new TerminalError(
    `catalog image "${ref}" has no directory that its label "${configsLabel}" names`,
  );
}

/** Kept within the image. */
function pathOf(label: string | undefined, ref: string): string {
  if (label !== undefined) return join('/', label);
  throw new TerminalError(`catalog image "${ref}" is missing the required label "${configsLabel}"`);
}

import { type FileHandle, open, rename } from 'node:fs/promises';
import { indexTar, type TarPlace } from '../../content/index.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { digestAlgorithm, digestHash, digestProblem } from '../reference.ts';
import { layoutFile } from './layout-index.ts';

/** An archive to append to, with its complete entries. */
export interface UnfinishedArchive {
  readonly file: FileHandle;
  /** Size in bytes by digest. */
  readonly blobs: ReadonlyMap<string, number>;
  /** Position of the next entry; 0 for an empty archive. */
  readonly end: number;
}

const maxEntries = 2_000_000;
const blockSize = 512;
const chunkSize = 256 * 1024;

/**
 * Opens an archive for appending. A finished archive becomes unfinished again and loses its index;
 * an interrupted one loses an incomplete last entry.
 * @throws TerminalError for a finished archive that is not an OCI layout
 */
export async function openUnfinished(path: string, partial: string): Promise<UnfinishedArchive> {
  const broken = await openIfThere(partial);
  if (broken !== undefined) {
    return await recovered(broken).catch(async (error: unknown) => {
      await broken.close();
      throw error;
    });
  }
  const finished = await openIfThere(path);
  if (finished === undefined) return { file: await open(partial, 'w+'), blobs: new Map(), end: 0 };
  try {
    const archive = await recovered(finished);
    if (archive.end === 0) throw new TerminalError('it is no OCI layout');
    await rename(path, partial);
    return archive;
  } catch (error) {
    await finished.close();
    throw new TerminalError(`cannot write on ${path}: ${errorMessage(error)}; name another file`, {
      cause: error,
    });
  }
}

interface Entry {
  /** Undefined for the file `oci-layout`. */
  readonly digest: string | undefined;
  readonly place: TarPlace;
}

async function recovered(file: FileHandle): Promise<UnfinishedArchive> {
  const entries: Entry[] = [];
  for (const [path, place] of await indexTar(file, { maxEntries, isUnfinished: true })) {
    const digest = digestOfPath(path);
    if (digest === undefined && path !== layoutFile) break;
    entries.push({ digest, place });
  }
  // The writer may have stopped between the last byte and the check of the digest.
  const last = entries.at(-1);
  if (last !== undefined && !(await isWhole(file, last))) entries.pop();
  const blobs = entries.flatMap(({ digest, place }) =>
    digest === undefined ? [] : [[digest, place.size] as const],
  );
  return { file, blobs: new Map(blobs), end: endOf(entries.at(-1)) };
}

function endOf(entry: Entry | undefined): number {
  if (entry === undefined) return 0;
  const { start, size } = entry.place;
  return start + Math.ceil(size / blockSize) * blockSize;
}

function digestOfPath(path: string): string | undefined {
  const [, algorithm, hex] = /^blobs\/([a-z0-9]+)\/([a-f0-9]+)$/.exec(path) ?? [];
  const digest = `${algorithm}:${hex}`;
  return digestProblem(digest) === undefined ? digest : undefined;
}

async function isWhole(file: FileHandle, { digest, place }: Entry): Promise<boolean> {
  if (digest === undefined) return true;
  const hash = digestHash(digest);
  const end = place.start + place.size;
  const buffer = Buffer.alloc(chunkSize);
  for (let position = place.start; position < end; ) {
    const length = Math.min(chunkSize, end - position);
    const { bytesRead } = await file.read(buffer, 0, length, position);
    if (bytesRead === 0) return false;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return `${digestAlgorithm(digest)}:${hash.digest('hex')}` === digest;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

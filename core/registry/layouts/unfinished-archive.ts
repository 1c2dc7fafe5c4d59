import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { indexTar, type TarPlace, tarHeader, tarPadding } from '../../content/index.ts';
import { errorMessage, quoted, TerminalError } from '../../errors.ts';
import { manifestParts } from '../manifest-parts.ts';
import { digestAlgorithm, digestHash, digestProblem } from '../reference.ts';
import {
  blobPath,
  indexFile,
  LayoutIndex,
  layoutFile,
  layoutText,
  maxIndexSize,
} from './layout-index.ts';
import { isThere, partialOf, partialsOf } from './partial-files.ts';

/** An archive to append to, with its complete entries. */
export interface UnfinishedArchive {
  readonly file: FileHandle;
  /** Its path while it is written. */
  readonly partial: string;
  /** By path. */
  readonly places: ReadonlyMap<string, TarPlace>;
  /** Bytes of its last index; undefined for an archive that was never finished. */
  readonly index: Buffer | undefined;
  /** Position of the next entry; 0 for an empty archive. */
  readonly end: number;
}

export interface UnfinishedPlace {
  /** Of the finished archive. */
  readonly path: string;
  /** Name of the artifact that tells a finished archive from those of other programs. */
  readonly artifact: string;
  /** Ends the check of an interrupted archive, which reads all of it. */
  readonly signal?: AbortSignal | undefined;
}

const maxEntries = 2_000_000;
const blockSize = 512;
const chunkSize = 256 * 1024;
/** First bytes of each archive: those of other programs begin with others. */
const head = Buffer.concat([
  ...tarHeader({ path: layoutFile, size: layoutText.length }),
  Buffer.from(layoutText),
  tarPadding(layoutText.length),
]);

/**
 * Begins an archive that no later run continues.
 * @throws TerminalError for an existing one, unless it is to be overwritten
 */
export async function newArchive(path: string, overwrite: boolean): Promise<UnfinishedArchive> {
  if (!overwrite && (await isThere(path))) {
    throw new TerminalError(`${path} exists: name another file, or replace it with --overwrite`);
  }
  // That run could not be continued beside a finished archive.
  const begun = continuedOf(path);
  if (await isThere(begun)) {
    throw new TerminalError(
      `${begun} of an interrupted run of rukpakctl mirror is there: name another file`,
    );
  }
  for (const left of await partialsOf(path)) await rm(left, { force: true });
  const partial = partialOf(path);
  return { file: await open(partial, 'wx+'), partial, places: new Map(), index: undefined, end: 0 };
}

/**
 * Opens an archive for appending. A finished archive becomes unfinished again and keeps its index
 * until it gets a new one. An interrupted one is read as a whole, and loses an incomplete last entry
 * and blobs without their digest: after a loss of power, any part of the file may be zeros.
 * @throws TerminalError for a file of another program, which stays as it is; the signal's reason
 */
export async function openUnfinished(place: UnfinishedPlace): Promise<UnfinishedArchive> {
  const { path, signal } = place;
  const partial = continuedOf(path);
  const finished = await openIfThere(path);
  const broken = await openIfThere(partial);
  try {
    if (finished !== undefined) return await reopened(finished, broken !== undefined, place);
    if (broken !== undefined) {
      return { ...(await recovered(broken, place)), partial };
    }
  } catch (error) {
    await finished?.close();
    await broken?.close();
    signal?.throwIfAborted();
    const name = finished === undefined ? partial : path;
    throw new TerminalError(`cannot write on ${name}: ${errorMessage(error)}; name another file`, {
      cause: error,
    });
  }
  return { file: await open(partial, 'wx+'), partial, places: new Map(), index: undefined, end: 0 };
}

async function reopened(
  file: FileHandle,
  isBegunToo: boolean,
  { path, artifact }: UnfinishedPlace,
): Promise<UnfinishedArchive> {
  const partial = continuedOf(path);
  // It would replace the finished one in the end.
  if (isBegunToo) throw new TerminalError(`${partial} of an interrupted run is beside it`);
  const entries = await entriesOf(file, true);
  if (entries.at(-1)?.path !== indexFile) throw new TerminalError('it is not whole');
  const archive = await archiveOf(file, entries);
  const { index } = archive;
  if (index === undefined || LayoutIndex.parse(index).find(artifact) === undefined) {
    throw new TerminalError('no earlier run has written it');
  }
  await rename(path, partial);
  return { ...archive, partial };
}

interface Entry {
  readonly path: string;
  readonly place: TarPlace;
}

type OpenedFile = Omit<UnfinishedArchive, 'partial'>;

/** An interrupted archive with the entries that are whole; the others stay behind in the file. */
async function recovered(file: FileHandle, place: UnfinishedPlace): Promise<OpenedFile> {
  const entries = await entriesOf(file, false);
  const whole: Entry[] = [];
  for (const entry of entries) if (await isWhole(file, entry, place.signal)) whole.push(entry);
  const archive = await archiveOf(file, whole);
  const last = entries.at(-1);
  if (last?.path !== indexFile || (await hasArtifact(archive, place))) return archive;
  // Before it may be an earlier one, which counts again. The writer's headers for it are one block.
  await file.truncate(last.place.start - blockSize);
  return await recovered(file, place);
}

/** Whether the index lists the artifact, and all of that is there. */
async function hasArtifact(
  { file, index, places }: OpenedFile,
  { artifact }: UnfinishedPlace,
): Promise<boolean> {
  try {
    const listed = index && LayoutIndex.parse(index).find(artifact);
    const manifest = listed && places.get(blobPath(listed.digest));
    if (listed === undefined || manifest === undefined) return false;
    const bytes = await readAt(file, manifest);
    const { blobs } = manifestParts({ bytes, digest: listed.digest, contentType: '' });
    return blobs.every(({ digest }) => places.has(blobPath(digest)));
  } catch {
    return false;
  }
}

async function archiveOf(file: FileHandle, entries: readonly Entry[]): Promise<OpenedFile> {
  const places = new Map(entries.map(({ path, place }) => [path, place]));
  const index = await readIndex(file, places.get(indexFile));
  return { file, places, index, end: endOf(entries.at(-1)) };
}

/**
 * In their order in the file.
 * @throws TerminalError for an archive of another program
 */
async function entriesOf(file: FileHandle, isFinished: boolean): Promise<Entry[]> {
  const begin = await readAt(file, { start: 0, size: head.byteLength });
  if (!begin.equals(head.subarray(0, begin.byteLength))) {
    throw new TerminalError('no earlier run has written it');
  }
  const found = await indexTar(file, { maxEntries, isUnfinished: !isFinished });
  const entries = [...found].map(([path, place]): Entry => ({ path, place }));
  const other = entries.find(({ path }) => !isOfLayout(path));
  if (other !== undefined) {
    throw new TerminalError(`it has ${quoted(other.path)}, which no run writes`);
  }
  return entries.toSorted((a, b) => a.place.start - b.place.start);
}

async function readIndex(
  file: FileHandle,
  place: TarPlace | undefined,
): Promise<Buffer | undefined> {
  if (place === undefined) return undefined;
  if (place.size <= maxIndexSize) return await readAt(file, place);
  throw new TerminalError(`its ${indexFile} has ${place.size} bytes`);
}

function endOf(entry: Entry | undefined): number {
  if (entry === undefined) return 0;
  const { start, size } = entry.place;
  return start + Math.ceil(size / blockSize) * blockSize;
}

function isOfLayout(path: string): boolean {
  return path === layoutFile || path === indexFile || digestOfPath(path) !== undefined;
}

function digestOfPath(path: string): string | undefined {
  const [, algorithm, hex] = /^blobs\/([a-z0-9]+)\/([a-f0-9]+)$/.exec(path) ?? [];
  const digest = `${algorithm}:${hex}`;
  return digestProblem(digest) === undefined ? digest : undefined;
}

async function isWhole(
  file: FileHandle,
  { path, place }: Entry,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const digest = digestOfPath(path);
  if (digest === undefined) return true;
  const hash = digestHash(digest);
  const end = place.start + place.size;
  for (let start = place.start; start < end; start += chunkSize) {
    const chunk = await readAt(file, { start, size: Math.min(chunkSize, end - start) });
    hash.update(chunk);
    signal?.throwIfAborted();
  }
  return `${digestAlgorithm(digest)}:${hash.digest('hex')}` === digest;
}

/** Fewer bytes at the end of the file. */
async function readAt(file: FileHandle, { start, size }: TarPlace): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, start + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/** The path of an archive that a later run continues, while it is written. */
function continuedOf(path: string): string {
  return `${path}.partial`;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentMemory } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { ByteReader, type ByteStream } from './byte-reader.ts';
import {
  parsePaxRecords,
  parseTarHeader,
  type TarExtension,
  type TarHeader,
} from './tar-header.ts';

export interface TarEntry {
  /** As written, with `./` and trailing slash; never absolute, empty or with a `..` part. */
  readonly path: string;
  /** `other` is a device, a pipe, a sparse file or a vendor's own type. */
  readonly type: 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';
  /** The target of a link, as written and unchecked. */
  readonly linkPath?: string;
  /** Empty except for files. */
  readonly content: Uint8Array;
}

export interface ReadTarOptions {
  readonly limits: Pick<ContentLimits, 'maxBytes' | 'maxEntries' | 'maxPathLength'> & {
    /** Bytes of one file, which is in memory as a whole (default: maxBytes). */
    readonly maxFileBytes?: number;
  };
  readonly signal: AbortSignal;
  /** Reserves the bytes of each file. */
  readonly memory?: ContentMemory | undefined;
  /** Entries to skip: neither reported nor counted, but maxBytes limits their sum. */
  skip?(path: string): boolean;
  /** Called in the archive's order; the next entry is read afterwards. */
  onEntry(entry: TarEntry): void | Promise<void>;
}

const blockSize = 512;
/** Bytes of headers, long names and padding that one entry may have besides its content. */
const overheadPerEntry = 4096;
const maxExtensionSize = 1024 * 1024;

/**
 * Reads an uncompressed tar (ustar, pax, GNU long names) to its end, with one file in memory at a
 * time. Paths outside of the tree, exceeded limits, garbage and truncation end in a TerminalError;
 * errors of the stream pass through. Reports links and devices to the caller.
 */
export async function readTar(stream: ByteStream, options: ReadTarOptions): Promise<void> {
  const reader = new ByteReader(stream, options.signal);
  try {
    const state = { entries: 0, bytes: 0, skipped: 0 };
    for (let header = await nextHeader(reader, options); header !== undefined; ) {
      checkHeader(header, options.limits);
      if (options.skip?.(header.path) === true) {
        state.skipped += header.size;
        checkTotals(state, options.limits);
        await skipBody(reader, header.size);
      } else {
        state.entries += 1;
        state.bytes += header.size;
        checkTotals(state, options.limits);
        checkFile(header, options.limits);
        await options.onEntry(await readEntry(reader, header, options.memory));
      }
      header = await nextHeader(reader, options);
    }
    await drain(reader, options);
  } finally {
    reader.release();
  }
}

/** The next entry's header with the fields of extended headers; undefined at the archive's end. */
async function nextHeader(
  reader: ByteReader,
  options: ReadTarOptions,
): Promise<TarHeader | undefined> {
  let extension: TarExtension = {};
  for (;;) {
    checkConsumed(reader, options.limits);
    const block = await reader.read(blockSize);
    // Archives without closing zero blocks are common; accepted if there was any entry.
    if (block.byteLength === 0 && reader.consumed > 0) return undefined;
    if (block.byteLength < blockSize) throw new TerminalError('unexpected EOF');
    if (block.every((byte) => byte === 0)) return undefined;
    const header = parseTarHeader(block, extension);
    const more = await readExtension(reader, header);
    if (more === undefined) return isRoot(header) ? { ...header, path: './' } : header;
    extension = { ...extension, ...more };
  }
}

/** Builders of images such as Kaniko write an entry for the root, to keep its permissions. */
function isRoot({ typeFlag, path }: TarHeader): boolean {
  return typeFlag === '5' && path === '/';
}

/** The fields of an extended header; undefined for the header of an entry. */
async function readExtension(
  reader: ByteReader,
  header: TarHeader,
): Promise<TarExtension | undefined> {
  switch (header.typeFlag) {
    case 'x':
    case 'X':
      return parsePaxRecords(await readExtensionBody(reader, header.size));
    case 'g':
      // A global header or comment cannot change the name or size of one entry.
      await readExtensionBody(reader, header.size);
      return {};
    case 'L':
    case 'N':
      return { path: gnuName(await readExtensionBody(reader, header.size)) };
    case 'K':
      return { linkpath: gnuName(await readExtensionBody(reader, header.size)) };
    default:
      return undefined;
  }
}

async function readExtensionBody(reader: ByteReader, size: number): Promise<Uint8Array> {
  if (size > maxExtensionSize) {
    throw new TerminalError(`archive/tar: an extended header of ${size} bytes is too large`);
  }
  return await readBody(reader, size);
}

function gnuName(body: Uint8Array): string {
  // Not by a regular expression, which would take minutes for a mebibyte of other bytes.
  const end = body.findLastIndex((byte) => byte !== 0) + 1;
  return Buffer.from(body.subarray(0, end)).toString('utf8');
}

async function readEntry(
  reader: ByteReader,
  header: TarHeader,
  memory: ContentMemory | undefined,
): Promise<TarEntry> {
  const type = entryType(header.typeFlag);
  if (type === 'file') {
    return { path: header.path, type, content: await readBody(reader, header.size, memory) };
  }
  await skipBody(reader, header.size);
  const content = new Uint8Array();
  return type === 'symlink' || type === 'hardlink'
    ? { path: header.path, type, linkPath: header.linkPath, content }
    : { path: header.path, type, content };
}

async function readBody(
  reader: ByteReader,
  size: number,
  memory?: ContentMemory,
): Promise<Uint8Array> {
  const body = await reader.read(size, memory);
  if (body.byteLength < size || !(await reader.skip(padding(size)))) {
    throw new TerminalError('unexpected EOF');
  }
  return body;
}

async function skipBody(reader: ByteReader, size: number): Promise<void> {
  if (!(await reader.skip(size + padding(size)))) throw new TerminalError('unexpected EOF');
}

function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

function entryType(typeFlag: string): TarEntry['type'] {
  switch (typeFlag) {
    case '0':
    case '7':
      return 'file';
    case '1':
      return 'hardlink';
    case '2':
      return 'symlink';
    case '5':
      return 'directory';
    default:
      return 'other';
  }
}

/** Reads the rest after the end, so that checksums of the layers below cover the whole stream. */
async function drain(reader: ByteReader, options: ReadTarOptions): Promise<void> {
  while ((await reader.next()) !== undefined) checkConsumed(reader, options.limits);
}

function checkHeader({ path }: TarHeader, limits: ReadTarOptions['limits']): void {
  const length = Buffer.byteLength(path);
  const shown = JSON.stringify(path.slice(0, 200));
  if (length > limits.maxPathLength) {
    throw new TerminalError(
      `archive has a path of ${length} bytes, over the limit of ${limits.maxPathLength} (--max-content-path-length): ${shown}`,
    );
  }
  if (path === '') throw new TerminalError('archive has an entry without a name');
  if (path.startsWith('/') || path.includes('\0') || path.split('/').includes('..')) {
    throw new TerminalError(`archive has an entry that leaves the bundle: ${shown}`);
  }
}

function checkTotals(
  state: { readonly entries: number; readonly bytes: number; readonly skipped: number },
  limits: ReadTarOptions['limits'],
): void {
  if (state.entries > limits.maxEntries) {
    throw new TerminalError(
      `archive has more than ${limits.maxEntries} entries (--max-content-entries)`,
    );
  }
  if (Math.max(state.bytes, state.skipped) > limits.maxBytes) throw tooLarge(limits);
}

function checkFile({ path, size }: TarHeader, limits: ReadTarOptions['limits']): void {
  const { maxFileBytes = limits.maxBytes } = limits;
  if (size <= maxFileBytes) return;
  throw new TerminalError(
    `archive has a file of ${size} bytes, over the limit of ${maxFileBytes} for one file: ${JSON.stringify(path.slice(0, 200))}`,
  );
}

/**
 * Limits extended headers and trailing data like headers. Counts twice the bytes, because skipped
 * entries have the same limit as others.
 */
function checkConsumed(reader: ByteReader, limits: ReadTarOptions['limits']): void {
  const overhead = maxExtensionSize + limits.maxEntries * overheadPerEntry;
  if (reader.consumed > 2 * limits.maxBytes + overhead) throw tooLarge(limits);
}

function tooLarge(limits: ReadTarOptions['limits']): TerminalError {
  return new TerminalError(
    `archive unpacks to more than the limit of ${limits.maxBytes} bytes (--max-content-bytes)`,
  );
}

import type { FileHandle } from 'node:fs/promises';
import { TerminalError } from '../errors.ts';
import { parsePaxRecords, parseTarHeader, type TarExtension } from './tar-header.ts';

/** The position of a file in an archive. */
export interface TarPlace {
  /** First byte of the content in the archive. */
  readonly start: number;
  /** Bytes. */
  readonly size: number;
}

const blockSize = 512;
const maxExtensionSize = 1024 * 1024;

export interface IndexTarOptions {
  readonly maxEntries: number;
  /** Ends before an entry that is damaged or not whole, instead of throwing. */
  readonly isUnfinished?: boolean;
}

/**
 * Finds the files of an uncompressed tar by its headers, without reading their content. The last
 * file of a name counts; ignores entries that are not files.
 * @throws TerminalError for an invalid or truncated tar, or one with too many entries
 */
export async function indexTar(
  file: FileHandle,
  { maxEntries, isUnfinished = false }: IndexTarOptions,
): Promise<ReadonlyMap<string, TarPlace>> {
  const places = new Map<string, TarPlace>();
  try {
    await addPlaces(file, maxEntries, places);
  } catch (error) {
    if (!isUnfinished || !(error instanceof TerminalError)) throw error;
  }
  return places;
}

async function addPlaces(
  file: FileHandle,
  maxEntries: number,
  places: Map<string, TarPlace>,
): Promise<void> {
  const { size: length } = await file.stat();
  let extension: TarExtension = {};
  let position = 0;
  for (let entries = 0; position < length; entries += 1) {
    if (entries > maxEntries) {
      throw new TerminalError(`the archive has more than ${maxEntries} entries`);
    }
    const block = await readAt(file, position, blockSize);
    if (block.every((byte) => byte === 0)) break;
    const header = parseTarHeader(block, extension);
    const start = position + blockSize;
    if (header.size > length - start) throw new TerminalError('unexpected EOF');
    position = start + Math.ceil(header.size / blockSize) * blockSize;
    const more = await extensionOf(file, header.typeFlag, { start, size: header.size });
    extension = more === undefined ? {} : { ...extension, ...more };
    if (more === undefined && isFile(header.typeFlag)) {
      places.set(header.path.replace(/^(?:\.\/)+/, ''), { start, size: header.size });
    }
  }
}

function isFile(typeFlag: string): boolean {
  return typeFlag === '0' || typeFlag === '7';
}

/** The fields of an extended header; undefined for another entry. */
async function extensionOf(
  file: FileHandle,
  typeFlag: string,
  { start, size }: TarPlace,
): Promise<TarExtension | undefined> {
  if (!'xXgLNK'.includes(typeFlag)) return undefined;
  if (size > maxExtensionSize) {
    throw new TerminalError(`archive/tar: an extended header of ${size} bytes is too large`);
  }
  const body = await readAt(file, start, size);
  if (typeFlag === 'g') return {};
  if (typeFlag === 'x' || typeFlag === 'X') return parsePaxRecords(body);
  const end = body.findLastIndex((byte) => byte !== 0) + 1;
  const text = body.toString('utf8', 0, end);
  return typeFlag === 'K' ? { linkpath: text } : { path: text };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new TerminalError('unexpected EOF');
  return buffer;
}

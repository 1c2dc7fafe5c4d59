import { Header } from 'tar';
import { TerminalError } from '../errors.ts';

/** The fields of an extended header for the entry after it. */
export interface TarExtension {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

export interface TarHeader {
  /** The type flag: `0` is a file, `5` a directory, `x` an extended header. */
  readonly typeFlag: string;
  readonly path: string;
  readonly linkPath: string;
  readonly size: number;
}

/** Links, devices, directories and pipes have no content, whatever their size says. */
const withoutContent = /^[1-6]$/;

/**
 * Reads one header block.
 * @throws TerminalError for a damaged one.
 */
export function parseTarHeader(block: Uint8Array, extension: TarExtension): TarHeader {
  const header = decoded(block, extension);
  if (!header.cksumValid) throw new TerminalError('archive/tar: invalid tar header');
  const path = extension.path ?? header.path ?? '';
  const size = header.size ?? 0;
  if (!Number.isSafeInteger(size)) {
    throw new TerminalError(
      `archive/tar: invalid size of entry ${JSON.stringify(path.slice(0, 200))}`,
    );
  }
  return {
    typeFlag: header.typeKey,
    path,
    linkPath: extension.linkpath ?? header.linkpath ?? '',
    size: withoutContent.test(header.typeKey) ? 0 : size,
  };
}

function decoded(block: Uint8Array, extension: TarExtension): Header {
  try {
    const buffer = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    return new Header(buffer, 0, { ...extension });
  } catch (error) {
    throw new TerminalError('archive/tar: invalid tar header', { cause: error });
  }
}

/** Reads the records of a pax extended header: `<length> <key>=<value>\n`, length in bytes. */
export function parsePaxRecords(body: Uint8Array): TarExtension {
  const extension: { path?: string; linkpath?: string; size?: number } = {};
  for (const [key, value] of paxRecords(Buffer.from(body))) {
    if (key.startsWith('GNU.sparse.')) {
      throw new TerminalError('archive/tar: sparse files are not supported');
    }
    if (key !== 'path' && key !== 'linkpath' && key !== 'size') continue;
    // An empty value removes an earlier record.
    if (value === '') delete extension[key];
    else if (key === 'size') extension.size = paxSize(value);
    else extension[key] = value;
  }
  return extension;
}

function* paxRecords(body: Buffer): Generator<[key: string, value: string]> {
  let start = 0;
  while (start < body.length) {
    const space = body.indexOf(' ', start);
    const digits = space === -1 ? '' : body.toString('latin1', start, space);
    const end = start + Number(digits);
    if (!/^[0-9]{1,9}$/.test(digits) || end > body.length || body[end - 1] !== 0x0a) {
      throw new TerminalError('archive/tar: invalid pax header');
    }
    const record = body.toString('utf8', space + 1, end - 1);
    const equals = record.indexOf('=');
    if (equals < 1) throw new TerminalError('archive/tar: invalid pax header');
    yield [record.slice(0, equals), record.slice(equals + 1)];
    start = end;
  }
}

function paxSize(value: string): number {
  if (!/^[0-9]{1,15}$/.test(value)) throw new TerminalError('archive/tar: invalid pax header');
  return Number(value);
}

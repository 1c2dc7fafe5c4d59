import { Header, Pax } from 'tar';

export interface TarEntry {
  readonly name: string;
  /** A file if absent. */
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice';
  /** Where a link points. */
  readonly linkpath?: string;
  readonly content?: string | Uint8Array;
  /** Permission bits; 0755 of directories and 0644 of all others if absent. */
  readonly mode?: number;
}

const blockSize = 512;

/** A tar whose bytes depend on nothing but its entries. */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * blockSize)]);
}

/** One entry: its header, its content, and zeros to a whole number of blocks. */
function tarEntry(entry: TarEntry): Buffer {
  const { name, type = 'File', linkpath = '', content = '' } = entry;
  const { mode = type === 'Directory' ? 0o755 : 0o644 } = entry;
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const block = Buffer.alloc(blockSize);
  const isTooLong = new Header({
    path: name,
    type,
    linkpath,
    size: body.byteLength,
    mode,
    uid: 0,
    gid: 0,
    mtime: new Date(0),
  }).encode(block);
  const extension = isTooLong ? new Pax({ path: name, linkpath }).encode() : Buffer.alloc(0);
  const padding = Buffer.alloc((blockSize - (body.byteLength % blockSize)) % blockSize);
  return Buffer.concat([extension, block, body, padding]);
}

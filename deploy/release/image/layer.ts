import { posix } from 'node:path';
import { Parser } from 'tar';
import { type TarEntry, tarArchive } from '../tar-archive.ts';

/** A file, directory or link of an image. */
export interface LayerFile {
  readonly type: 'File' | 'Directory' | 'SymbolicLink' | 'Link';
  /** Permission bits. */
  readonly mode: number;
  readonly content?: Uint8Array;
  /** Target of a link. */
  readonly linkpath?: string;
}

/** By path from the root, without a slash at either end. */
export type LayerFiles = ReadonlyMap<string, LayerFile>;

const types: ReadonlySet<string> = new Set(['File', 'Directory', 'SymbolicLink', 'Link']);

/**
 * The files of a tar archive, compressed or not.
 * @throws Error for a broken archive, or an entry of an unsupported type.
 */
export async function readArchive(archive: Uint8Array): Promise<LayerFiles> {
  const files = new Map<string, LayerFile>();
  const parser = new Parser({ strict: true });
  const done = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve);
    parser.on('error', reject);
  });
  parser.on('entry', (entry) => {
    const chunks: Buffer[] = [];
    entry.on('data', (chunk: Buffer) => chunks.push(chunk));
    entry.on('end', () => {
      const path = posix.normalize(entry.path).replace(/\/$/, '');
      if (path === '.') return;
      files.set(path, fileOf(path, entry, Buffer.concat(chunks)));
    });
  });
  parser.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  await done;
  return files;
}

interface ReadEntry {
  readonly type: string;
  readonly mode?: number | undefined;
  readonly linkpath?: string | undefined;
}

function fileOf(
  path: string,
  { type, mode = 0, linkpath = '' }: ReadEntry,
  content: Buffer,
): LayerFile {
  const kind = type === 'OldFile' ? 'File' : type;
  if (!isLayerType(kind) || path.startsWith('/') || path.startsWith('..')) {
    throw new Error(`the archive has "${path}" of type ${type}, which an image cannot take over`);
  }
  const permissions = mode & 0o7777;
  if (kind === 'File') return { type: kind, mode: permissions, content };
  if (kind === 'Directory') return { type: kind, mode: permissions };
  return { type: kind, mode: permissions, linkpath };
}

function isLayerType(type: string): type is LayerFile['type'] {
  return types.has(type);
}

/**
 * An uncompressed layer: entries sorted by path with all folders above them, owned by root, without
 * times. Equal files make equal bytes.
 */
export function writeLayer(files: LayerFiles): Buffer {
  const all = new Map<string, LayerFile>(files);
  for (const path of files.keys()) {
    for (let above = posix.dirname(path); above !== '.'; above = posix.dirname(above)) {
      if (!all.has(above)) all.set(above, { type: 'Directory', mode: 0o755 });
    }
  }
  // By code units, independent of the locale; a folder comes before its content.
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  return tarArchive(sorted.map(([path, file]) => tarEntry(path, file)));
}

function tarEntry(path: string, { type, ...rest }: LayerFile): TarEntry {
  return { name: type === 'Directory' ? `${path}/` : path, type, ...rest };
}

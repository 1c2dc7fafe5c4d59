import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { Header, Pax } from 'tar';

/** What a layer is made of, by one of its first three fields. */
export interface LayerContent {
  /** Content by path; a path that ends in `/` is a directory. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Entries as they are to stand in the archive, however wrong. */
  readonly tarEntries?: readonly TarEntry[];
  /** The layer's bytes as they are pushed, compressed or whatever they are. */
  readonly rawLayer?: Uint8Array;
  /** gzip if absent. */
  readonly compression?: 'gzip' | 'zstd' | 'none';
}

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

export interface LayerArchive {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** The uncompressed archive, whose digest the image's configuration names. */
  readonly archive: Uint8Array;
}

const blockSize = 512;

/** A layer as registries store it; equal content gives equal bytes. */
export async function layerArchive(layer: LayerContent): Promise<LayerArchive> {
  const compression = layer.compression ?? 'gzip';
  const suffix = compression === 'none' ? '' : `+${compression}`;
  const mediaType = `application/vnd.oci.image.layer.v1.tar${suffix}`;
  if (layer.rawLayer !== undefined) {
    return { bytes: layer.rawLayer, mediaType, archive: layer.rawLayer };
  }
  const archive = tarArchive(layer.tarEntries ?? entriesOf(layer.files ?? {}));
  return { bytes: await compressed(archive, compression), mediaType, archive };
}

export function tarArchive(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * blockSize)]);
}

function entriesOf(files: Readonly<Record<string, string | Uint8Array>>): TarEntry[] {
  return Object.entries(files).map(([name, content]) =>
    name.endsWith('/') ? { name, type: 'Directory' } : { name, content },
  );
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

async function compressed(
  archive: Buffer,
  compression: 'gzip' | 'zstd' | 'none',
): Promise<Uint8Array> {
  if (compression === 'none') return archive;
  if (compression === 'gzip') return await promisify(gzip)(archive);
  return await promisify(zstdCompress)(archive);
}

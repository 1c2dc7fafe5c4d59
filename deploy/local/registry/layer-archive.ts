import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { Header } from 'tar';

export type LayerCompression = 'gzip' | 'zstd' | 'none';

/** A layer by its files, or by an archive that is taken as it is. */
export interface LayerContent {
  /** Content by path; a path that ends in `/` is a directory. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** A tar archive, in place of the files. */
  readonly archive?: Uint8Array;
  /** gzip if absent. */
  readonly compression?: LayerCompression;
}

export interface LayerArchive {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** The uncompressed archive, whose digest the image's configuration names. */
  readonly archive: Uint8Array;
}

const blockSize = 512;

/** A layer as registries store it. */
export async function layerArchive(layer: LayerContent): Promise<LayerArchive> {
  const archive = layer.archive ?? tarArchive(layer.files ?? {});
  const compression = layer.compression ?? 'gzip';
  const suffix = compression === 'none' ? '' : `+${compression}`;
  return {
    bytes: await compressed(archive, compression),
    mediaType: `application/vnd.oci.image.layer.v1.tar${suffix}`,
    archive,
  };
}

async function compressed(archive: Uint8Array, compression: LayerCompression): Promise<Buffer> {
  if (compression === 'none') return Buffer.from(archive);
  return await promisify(compression === 'gzip' ? gzip : zstdCompress)(archive);
}

/** A tar archive of files with short names; equal files give equal bytes. */
export function tarArchive(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const entries = Object.entries(files).map(([path, content]) =>
    path.endsWith('/') ? tarEntry({ path, type: 'Directory' }) : tarEntry({ path, content }),
  );
  return Buffer.concat([...entries, Buffer.alloc(2 * blockSize)]);
}

export interface TarEntryContent {
  readonly path: string;
  /** A file if absent. */
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice';
  readonly linkpath?: string;
  readonly content?: string | Uint8Array;
}

/** One entry of a tar archive: its header and its content, padded to whole blocks. */
export function tarEntry({ path, type, linkpath, content }: TarEntryContent): Buffer {
  const body = Buffer.from(content ?? '');
  const header = Buffer.alloc(blockSize);
  const extended = new Header({
    path,
    type: type ?? 'File',
    linkpath: linkpath ?? '',
    size: body.byteLength,
    mode: type === 'Directory' ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    mtime: new Date(0),
  }).encode(header);
  if (extended) throw new Error(`the path "${path}" is too long for a plain tar header`);
  const padding = Buffer.alloc((blockSize - (body.byteLength % blockSize)) % blockSize);
  return Buffer.concat([header, body, padding]);
}

import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { type TarEntry, tarArchive } from '../../deploy/release/tar-archive.ts';

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

export interface LayerArchive {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** The uncompressed archive, whose digest the image's configuration names. */
  readonly archive: Uint8Array;
}

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

function entriesOf(files: Readonly<Record<string, string | Uint8Array>>): TarEntry[] {
  return Object.entries(files).map(([name, content]) =>
    name.endsWith('/') ? { name, type: 'Directory' } : { name, content },
  );
}

async function compressed(
  archive: Buffer,
  compression: 'gzip' | 'zstd' | 'none',
): Promise<Uint8Array> {
  if (compression === 'none') return archive;
  if (compression === 'gzip') return await promisify(gzip)(archive);
  return await promisify(zstdCompress)(archive);
}

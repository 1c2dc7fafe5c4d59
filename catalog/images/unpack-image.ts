import { decompressed, readTar, type TarEntry } from '../../core/content/index.ts';
import { TerminalError } from '../../core/errors.ts';
import { type Descriptor, layerError, type OpenedImage } from '../../core/registry/index.ts';
import { fillDirectory } from '../new-directory.ts';
import { ImageDirectory, type LinkForm } from './image-directory.ts';
import { type PlatformImage, platformImage } from './opened-image.ts';

export interface UnpackImageOptions {
  /** Path to unpack, such as `configs`. Defaults to the whole image. */
  readonly only?: string | ((labels: PlatformImage['labels']) => string) | undefined;
  /**
   * Maximum bytes of all files of all layers, and 4 KiB for each file and directory (default 4 GiB).
   */
  readonly maxBytes?: number | undefined;
  /** Maximum bytes of one file, which is in memory as a whole. Defaults to 512 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Form of the image's symlinks. Defaults to symbolic. */
  readonly links?: LinkForm | undefined;
  readonly signal: AbortSignal;
}

const mebibyte = 1024 * 1024;
/** Bytes of the disk that a file or directory takes at least. */
const blockSize = 4096;
/** The largest public catalogs have 200 MB. */
const defaultMaxBytes = 4096 * mebibyte;
/** The largest file of public catalogs has 200 MB. */
const largestFile = 512 * mebibyte;

/**
 * Unpacks an image into a new or empty directory, layer by layer and file by file. Applies
 * whiteouts and verifies each digest. On failure, the directory stays as it was.
 * @returns the image's labels
 * @throws TerminalError for content that leaves the directory or exceeds a limit
 */
export async function unpackImage(
  image: OpenedImage,
  directory: string,
  options: UnpackImageOptions,
): Promise<PlatformImage['labels']> {
  const { labels, layers } = await platformImage(image, options.signal);
  const { only = '' } = options;
  const path = typeof only === 'string' ? only : only(labels);
  await fillDirectory(directory, (partial) =>
    unpackLayers({ image, layers, path }, partial, options),
  );
  return labels;
}

interface UnpackLayers {
  readonly image: OpenedImage;
  readonly layers: PlatformImage['layers'];
  /** Path in the image to unpack. */
  readonly path: string;
}

async function unpackLayers(
  { image, layers, path }: UnpackLayers,
  directory: string,
  options: UnpackImageOptions,
): Promise<void> {
  const { links = 'symbolic', signal } = options;
  const { maxBytes = defaultMaxBytes, maxFileBytes = largestFile } = options;
  const tree = new ImageDirectory(directory);
  const prefix = `${path.replace(/^\/+|(?<!\/)\/+$/g, '')}/`;
  let unpacked = 0;
  const take = async (entry: TarEntry): Promise<void> => {
    unpacked += entry.content.byteLength;
    if (unpacked + tree.size * blockSize > maxBytes) {
      throw new TerminalError(`the image unpacks to more than the limit of ${maxBytes} bytes`);
    }
    await tree.add(entry);
  };
  for (const layer of layers.toReversed()) {
    try {
      await unpackLayer({ image, layer, take, prefix, maxBytes, maxFileBytes, signal });
    } catch (error) {
      throw layerError(layer.digest, error);
    }
    tree.endLayer();
  }
  await tree.finish(links);
}

interface UnpackLayer {
  readonly image: OpenedImage;
  readonly layer: Descriptor;
  readonly take: (entry: TarEntry) => Promise<void>;
  readonly prefix: string;
  readonly maxBytes: number;
  readonly maxFileBytes: number;
  readonly signal: AbortSignal;
}

async function unpackLayer({ image, layer, take, ...rest }: UnpackLayer): Promise<void> {
  const { prefix, maxBytes, maxFileBytes, signal } = rest;
  const limits = { ...layerLimits, maxBytes, maxFileBytes };
  const blob = image.place.blob(layer, signal);
  try {
    await readTar(decompressed(blob, { compression: 'detect', limits, signal }), {
      limits,
      signal,
      skip: (path) => !isWanted(path, prefix),
      onEntry: take,
    });
    await blob.verify();
  } catch (error) {
    throw await blob.reasonOf(error);
  } finally {
    blob.close();
  }
}

const layerLimits = {
  maxEntries: 1_000_000,
  maxPathLength: 4096,
  maxCompressionRatio: 1000,
};

/** Whether a path is below the prefix, a directory above it, or a whiteout of either. */
function isWanted(path: string, prefix: string): boolean {
  const clean = path
    .replace(/^(?:\.?\/)+/, '')
    .replace(/(?:^|\/)\.wh\.\.wh\.\.opq$/, '')
    .replace('.wh.', '');
  return (
    prefix === '/' ||
    clean === '' ||
    `${clean}/`.startsWith(prefix) ||
    prefix.startsWith(`${clean}/`)
  );
}

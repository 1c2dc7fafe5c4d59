import { decompressed, readTar, type TarEntry, type UnpackOptions } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { quoted, TerminalError } from '../../errors.ts';
import {
  type Descriptor,
  type ImageManifest,
  layerError,
  type RegistryClient,
} from '../../registry/index.ts';
import { ImageTree, type Path } from './image-tree.ts';

/** The files of an image's layers, the bottom one first; verifies each digest. */
export async function downloadLayers(
  client: RegistryClient,
  { layers, isArtifact, isChart }: ImageManifest,
  options: UnpackOptions,
): Promise<BundleFiles> {
  checkCompressedSize(layers, options.limits);
  const tree = new LayeredTree({ ...options, isSystem: !isArtifact, isChart });
  for (const layer of layers) {
    const blob = client.blob(layer, options.signal);
    try {
      await tree.apply(blob);
      await blob.verify();
    } catch (error) {
      throw layerError(layer.digest, await blob.reasonOf(error));
    } finally {
      blob.close();
    }
  }
  return tree.tree.bundleFiles(options.limits);
}

function checkCompressedSize(layers: readonly Descriptor[], { maxBytes }: ContentLimits): void {
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (size <= maxBytes) return;
  throw new TerminalError(
    `the image's layers have ${size} bytes, over the limit of ${maxBytes} (--max-content-bytes)`,
  );
}

interface ApplyLayerOptions extends UnpackOptions {
  /** Whether it contains the system's own files, which are left out. */
  readonly isSystem: boolean;
  /** Whether it is a packed chart (default: no). */
  readonly isChart?: boolean;
}

/** Directories of the system that upstream leaves out of a bundle. */
const skippedRoots: ReadonlySet<string> = new Set([
  'dev',
  'etc',
  'proc',
  'product_name',
  'product_uuid',
  'sys',
  'bin',
]);
const whiteoutPrefix = '.wh.';
const opaqueWhiteout = '.wh..wh..opq';

/** The file tree of an image's layers, bottom first, within the limits for all together. */
export class LayeredTree {
  readonly #tree = new ImageTree();
  readonly #options: ApplyLayerOptions;
  #bytes = 0;
  #entries = 0;

  constructor(options: ApplyLayerOptions) {
    this.#options = options;
  }

  get tree(): ImageTree {
    return this.#tree;
  }

  /** Reads a layer's archive, compressed or not, and puts it on top of those below. */
  async apply(archive: AsyncIterable<Uint8Array>): Promise<void> {
    const layer = new Layer(this.#tree);
    await readTar(decompressed(archive, { ...this.#options, compression: 'detect' }), {
      ...this.#options,
      skip: (path) => isSkipped(partsOf(path), this.#options),
      onEntry: (entry) => this.#count(layer.add(entry)),
    });
    layer.layOver();
  }

  #count(added: Added): void {
    const { maxBytes, maxEntries } = this.#options.limits;
    this.#bytes += added.bytes;
    this.#entries += added.entries;
    if (this.#bytes > maxBytes) {
      throw new TerminalError(
        `the image unpacks to more than the limit of ${maxBytes} bytes (--max-content-bytes)`,
      );
    }
    if (this.#entries > maxEntries) {
      throw new TerminalError(
        `the image has more than ${maxEntries} entries (--max-content-entries)`,
      );
    }
  }
}

interface Added {
  readonly bytes: number;
  readonly entries: number;
}

/**
 * One layer, kept separate until its end: whiteouts hide entries of the layers below, never of
 * their own, wherever they are in the archive (OCI image spec, layers).
 */
class Layer {
  readonly #below: ImageTree;
  readonly #tree = new ImageTree();
  readonly #whiteouts: Path[] = [];
  readonly #opaque: Path[] = [];

  constructor(below: ImageTree) {
    this.#below = below;
  }

  add(entry: TarEntry): Added {
    const path = partsOf(entry.path);
    const name = path.at(-1);
    if (name === undefined) return { bytes: 0, entries: 0 };
    if (name.startsWith(whiteoutPrefix)) return this.#addWhiteout(path, name);
    switch (entry.type) {
      case 'directory':
        return { bytes: 0, entries: Math.max(1, this.#tree.addDirectory(path)) };
      case 'file':
        return this.#addFile(path, entry.content);
      case 'symlink':
        checkSymlink(path, entry);
        return { bytes: 0, entries: this.#tree.addLeaf(path, { kind: 'symlink' }) };
      case 'hardlink':
        return this.#addHardLink(path, entry);
      case 'other':
        break;
    }
    throw new TerminalError(`${quoted(entry.path)} is a device or special file`);
  }

  layOver(): void {
    for (const path of this.#whiteouts) this.#below.remove(path);
    for (const path of this.#opaque) this.#below.clear(path);
    this.#below.overlay(this.#tree);
  }

  #addWhiteout(path: Path, name: string): Added {
    const parent = path.slice(0, -1);
    if (name === opaqueWhiteout) this.#opaque.push(parent);
    // Other names of this form are metadata of AUFS.
    else if (!name.startsWith('.wh..wh.')) {
      this.#whiteouts.push([...parent, name.slice(whiteoutPrefix.length)]);
    }
    return { bytes: 0, entries: 1 };
  }

  #addFile(path: Path, content: Uint8Array): Added {
    return {
      bytes: content.byteLength,
      entries: this.#tree.addLeaf(path, { kind: 'file', content }),
    };
  }

  #addHardLink(path: Path, entry: TarEntry): Added {
    const target = resolved([], entry.linkPath ?? '');
    if (target === undefined) throw outside('hard link', entry);
    const node = this.#tree.find(target) ?? this.#below.find(target);
    if (node?.kind === 'file') return this.#addFile(path, node.content);
    if (node?.kind === 'symlink') return { bytes: 0, entries: this.#tree.addLeaf(path, node) };
    throw new TerminalError(
      `hard link ${quoted(entry.path)} points to ${quoted(entry.linkPath ?? '')}, which is not a file of the bundle`,
    );
  }
}

function isSkipped(path: Path, { isSystem, isChart = false }: ApplyLayerOptions): boolean {
  // Helm applies the rules of .helmignore to a chart's folder, when it packs it. They would leave
  // out files of subcharts, which it packs in folders.
  if (isChart) return path.length === 2 && path[1] === '.helmignore';
  return isSystem && path[0] !== undefined && skippedRoots.has(path[0]);
}

function checkSymlink(path: Path, entry: TarEntry): void {
  const target = entry.linkPath ?? '';
  const start = target.startsWith('/') ? [] : path.slice(0, -1);
  if (resolved(start, target) === undefined) throw outside('symlink', entry);
}

/** The target of a link, from its text alone; undefined outside of the image. */
function resolved(start: Path, target: string): Path | undefined {
  const parts = [...start];
  for (const part of partsOf(target)) {
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts;
}

function partsOf(path: string): Path {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function outside(what: string, entry: TarEntry): TerminalError {
  return new TerminalError(
    `${what} ${quoted(entry.path)} points outside of the image: ${quoted(entry.linkPath ?? '')}`,
  );
}

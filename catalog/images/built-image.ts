import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  digestOf,
  type ImageTarget,
  mediaTypes,
  type TypedDescriptor,
} from '../../core/registry/index.ts';
import { type ImageLayer, type LayerDirectory, writeLayer } from './image-layer.ts';

export interface ImageContent {
  readonly directories: readonly LayerDirectory[];
  readonly labels: ReadonlyMap<string, string>;
  /** Format of the manifest, config and layer. Defaults to `oci`. */
  readonly format?: ImageFormat | undefined;
  /** `os/architecture`. Defaults to `linux/amd64`. */
  readonly platform?: string | undefined;
}

export type ImageFormat = 'oci' | 'docker';

const formats = {
  oci: {
    manifest: mediaTypes.ociManifest,
    config: mediaTypes.ociConfig,
    layer: mediaTypes.ociLayer,
  },
  docker: {
    manifest: mediaTypes.dockerManifest,
    config: mediaTypes.dockerConfig,
    layer: mediaTypes.dockerLayer,
  },
} as const;

/** A fixed creation time: equal content has equal digests. */
const created = '1970-01-01T00:00:00Z';

/** An image of one layer, ready to push. A temporary file holds the layer until `close`. */
export class BuiltImage {
  /** Descriptor of the manifest. */
  readonly descriptor: TypedDescriptor;
  readonly #folder: string;
  readonly #content: ImageContent;
  readonly #layer: ImageLayer;
  readonly #config: Uint8Array;
  readonly #manifest: Uint8Array;

  private constructor(folder: string, layer: ImageLayer, content: ImageContent) {
    const types = formats[content.format ?? 'oci'];
    this.#folder = folder;
    this.#content = content;
    this.#layer = layer;
    this.#config = configOf(layer, content);
    this.#manifest = json({
      schemaVersion: 2,
      mediaType: types.manifest,
      config: {
        mediaType: types.config,
        digest: digestOf(this.#config),
        size: this.#config.byteLength,
      },
      layers: [{ mediaType: types.layer, digest: layer.digest, size: layer.size }],
    });
    const size = this.#manifest.byteLength;
    this.descriptor = { mediaType: types.manifest, digest: digestOf(this.#manifest), size };
  }

  /** The caller must close the image. */
  static async build(content: ImageContent, signal: AbortSignal): Promise<BuiltImage> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-image-'));
    try {
      const layer = await writeLayer(content.directories, join(folder, 'layer.tar.gz'), signal);
      return new BuiltImage(folder, layer, content);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Pushes the layer, config and manifest; the target skips blobs that it has. */
  async push(target: ImageTarget, tag: string | undefined, signal: AbortSignal): Promise<void> {
    const { path, digest, size } = this.#layer;
    const open = () => createReadStream(path) as AsyncIterable<Uint8Array>;
    await target.pushBlob({ descriptor: { digest, size }, open }, signal);
    const config = this.#config;
    const descriptor = { digest: digestOf(config), size: config.byteLength };
    await target.pushBlob({ descriptor, open: () => [config] }, signal);
    const { mediaType } = this.descriptor;
    await target.pushManifest({ bytes: this.#manifest, mediaType, tag }, signal);
  }

  /** A Dockerfile for an image with the same files and labels, built from the directory `context`. */
  dockerfile(context: string): string {
    const labels = [...this.#content.labels]
      .toSorted(byKey)
      .map((pair) => `LABEL ${pair.map(dockerText).join('=')}\n`);
    const copies = this.#content.directories.map(
      ({ from, to }) => `COPY ${JSON.stringify([relative(context, from) || '.', `/${to}/`])}\n`,
    );
    return `FROM scratch\n\n${labels.join('')}${copies.join('')}`;
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function configOf({ diffId }: ImageLayer, { labels, platform = 'linux/amd64' }: ImageContent) {
  const [os = '', architecture = ''] = platform.split('/');
  const sorted = [...labels].toSorted(byKey);
  return json({
    created,
    architecture,
    os,
    config: { Labels: Object.fromEntries(sorted) },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created, created_by: 'rukpakctl build' }],
  });
}

type Label = readonly [key: string, value: string];

function byKey([a]: Label, [b]: Label): number {
  return a < b ? -1 : 1;
}

/** Docker expands variables after `$`, in quotes too. */
function dockerText(text: string): string {
  return JSON.stringify(text).replaceAll('$', '\\$');
}

function json(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

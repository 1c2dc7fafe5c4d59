import type { Product } from '../product.ts';
import type { BaseImage } from './base-image.ts';
import { baseLayer, nonroot } from './base-layer.ts';
import { readDebianPackage } from './debian-package.ts';
import { type DownloadOptions, debianPackages, nodePackage } from './downloads.ts';
import { type LayerFile, readArchive } from './layer.ts';
import { type ImageContent, type ImageLayer, type ImageSettings, imageLayer } from './layout.ts';
import { type Architecture, architectures, type Pins } from './pins.ts';

export interface ImageOptions extends DownloadOptions {
  readonly pins: Pins;
  /** Replaces the layer of Debian packages. */
  readonly base?: BaseImage | undefined;
  readonly onProgress: (line: string) => void;
}

/** The image for all platforms: the base, Node, and the product, which is the same for each. */
export async function productImage(product: Product, options: ImageOptions): Promise<ImageContent> {
  const { pins, onProgress } = options;
  const app = new Map([...product.files].map(([path, file]) => [`app/${path}`, file]));
  const productLayer = await imageLayer(app, `rukpak-ts ${product.version}`);
  const images: ImageContent['images'][number][] = [];
  for (const architecture of architectures) {
    onProgress(`making the image for linux/${architecture}`);
    const base = await baseLayers(architecture, options);
    const node = await nodeLayer(pins, architecture, options);
    images.push({ architecture, layers: [...base, node, productLayer] });
  }
  const { created, version } = product;
  return { images, created, tag: version, settings: settingsOf(product) };
}

async function baseLayers(
  architecture: Architecture,
  options: ImageOptions,
): Promise<readonly ImageLayer[]> {
  if (options.base !== undefined) return await options.base.layers(architecture);
  const files = await debianPackages(options.pins, architecture, options);
  const packages = await Promise.all(files.map((each) => readDebianPackage(each)));
  const names = options.pins.debian[architecture].map(({ name, version }) => `${name} ${version}`);
  return [await imageLayer(baseLayer(packages), `Debian packages ${names.join(', ')}`)];
}

async function nodeLayer(
  pins: Pins,
  architecture: Architecture,
  options: ImageOptions,
): Promise<ImageLayer> {
  const files = await readArchive(await nodePackage(pins, architecture, options));
  const kept = ['bin/node', 'LICENSE'].map((path): [string, LayerFile] => {
    const file = files.get(`package/${path}`);
    if (file === undefined) throw new Error(`the npm package of Node has no ${path}`);
    return [`nodejs/${path}`, file];
  });
  return await imageLayer(new Map(kept), `Node ${pins.node.version}`);
}

function settingsOf({ version, revision }: Product): ImageSettings {
  return {
    user: `${nonroot}:${nonroot}`,
    workingDir: '/app',
    env: [
      'PATH=/nodejs/bin',
      'HOME=/home/nonroot',
      'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
      'NODE_ENV=production',
      // One heap of malloc for all threads, because separate ones keep the memory that they once
      // needed.
      'MALLOC_ARENA_MAX=1',
    ],
    entrypoint: ['/nodejs/bin/node', '/app/dist/cmd/rukpak.js'],
    cmd: ['--help'],
    labels: {
      'org.opencontainers.image.title': 'rukpak-ts',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  };
}

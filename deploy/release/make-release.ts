import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ImageReference, parseImageReference } from '../../core/registry/index.ts';
import { chartArchive, chartFiles } from './chart.ts';
import { writeChecksums } from './checksums.ts';
import { baseImage } from './image/base-image.ts';
import { writeLayout } from './image/layout.ts';
import { readPins } from './image/pins.ts';
import { type ImageOptions, productImage } from './image/product-image.ts';
import { pushLayout } from './image/push-layout.ts';
import type { ReleaseRegistries } from './image/registry.ts';
import { krewManifest, pluginArchive } from './krew.ts';
import { writeManifests } from './manifests.ts';
import { buildProduct, type Product } from './product.ts';
import { sbom } from './sbom.ts';

export interface ReleaseOptions extends ReleaseRegistries {
  /** An empty folder for the files of the release. */
  readonly folder: string;
  /** An empty folder that the caller removes. */
  readonly work: string;
  /** Repository to push the image to, with an optional tag (default: the version). */
  readonly push?: string | undefined;
  /** An image that replaces the pinned Debian packages. */
  readonly base?: string | undefined;
  readonly debianMirror?: string | undefined;
  /** URL of the published files, for the krew manifest. */
  readonly downloadUrl?: string | undefined;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Makes all files of a release, and pushes its image on request.
 * @returns the image's reference in all manifests
 */
export async function makeRelease(options: ReleaseOptions): Promise<string> {
  const { folder, work, onProgress, signal } = options;
  const pins = readPins();
  const base =
    options.base === undefined ? undefined : await baseImage(options.base, options, signal);
  const product = await buildProduct({ work, onProgress, signal });
  if (product.isDirty)
    onProgress('the checkout has changes that are not committed: they are in it');
  const image = await makeImage(product, options, { pins, base });
  onProgress('writing manifests, chart, plugin and bill of materials');
  await writeInstallation(product, image, options);
  await writePrograms(product, options);
  const { created } = product;
  const bill = await sbom({ pins, base: base?.reference, created, work, signal });
  await writeFile(join(folder, 'sbom.cdx.json'), bill);
  await writeChecksums(folder);
  return image;
}

/** Writes the image, and pushes it on request. */
async function makeImage(
  product: Product,
  options: ReleaseOptions,
  parts: Pick<ImageOptions, 'pins' | 'base'>,
): Promise<string> {
  const { folder, onProgress, signal, push, debianMirror } = options;
  const target = push === undefined ? undefined : targetOf(push, product.version);
  const content = await productImage(product, {
    ...parts,
    debianMirror,
    onProgress,
    signal,
  });
  const layout = join(folder, 'image');
  const { digest } = await writeLayout(layout, content);
  if (target === undefined) return `rukpak:${product.version}`;
  const image = `${target.domain}/${target.path}:${target.tag}@${digest}`;
  onProgress(`pushing ${image}`);
  await pushLayout(layout, target, options);
  return image;
}

/** Writes the manifests and the chart. */
async function writeInstallation(
  { version }: Product,
  image: string,
  { folder, signal }: ReleaseOptions,
): Promise<void> {
  const manifests = await writeManifests(join(folder, 'kustomize'), image, signal);
  const { bundles, operators, dependencies } = manifests;
  const title = `# rukpak-ts ${version}, image ${image}\n`;
  await writeFile(join(folder, 'install.yaml'), title + bundles.yaml);
  await writeFile(join(folder, 'install-with-operators.yaml'), title + operators.yaml);
  const files = chartFiles({
    version,
    image,
    objects: bundles.objects,
    withOperators: operators.objects,
    withDependencies: dependencies.objects,
  });
  const chart = await chartArchive(files);
  await writeFile(join(folder, `rukpak-${version}.tgz`), chart);
}

/** Writes the programs for people and pipelines. */
async function writePrograms(product: Product, options: ReleaseOptions): Promise<void> {
  const { folder, downloadUrl } = options;
  const { version, tarball } = product;
  await copyFile(tarball, join(folder, basename(tarball)));
  const archive = await pluginArchive(product.files);
  const name = `kubectl-bundle-${version}.tar.gz`;
  await writeFile(join(folder, name), archive);
  const url = downloadUrl === undefined ? name : `${downloadUrl.replace(/\/+$/, '')}/${name}`;
  await writeFile(join(folder, 'krew-bundle.yaml'), krewManifest({ version, archive, url }));
}

function targetOf(reference: string, version: string): ImageReference & { readonly tag: string } {
  const parsed = parseImageReference(reference);
  if (parsed.digest !== undefined) {
    throw new Error(`--push ${reference}: name a repository and at most a tag, and no digest`);
  }
  const { domain, path, tag } = parsed;
  const isTagged = reference.endsWith(`:${tag}`);
  return { domain, path, tag: isTagged && tag !== undefined ? tag : version };
}

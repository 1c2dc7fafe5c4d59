import { join } from 'node:path';
import {
  type ImageReference,
  parseImageReference,
  registryHost,
} from '../../../core/registry/index.ts';
import { configsLabel, platformImage } from '../../images/index.ts';
import type { PlanOptions } from '../image-plan.ts';
import { type ChosenCatalog, isPlace } from '../image-set/image-set.ts';
import type { ImageToCopy } from '../image-to-copy.ts';
import { inParallel } from '../in-parallel.ts';
import { type MirrorList, sourceText, tagOfDigest, type WantedImage } from '../mirror-list.ts';
import { imagesAtOnce } from '../mirror-run.ts';
import { imagesOfBundle } from './bundle-manifests.ts';
import { buildPrunedImage, type MirroredBundle, writePrunedCatalog } from './pruned-catalog.ts';

/**
 * Reads the chosen part of catalogs, and lists the images of its bundles. Records an unreadable
 * catalog as a failure of the run.
 * @returns the catalogs' own images
 */
export async function readCatalogs(
  catalogs: readonly ChosenCatalog[],
  list: MirrorList,
  options: PlanOptions,
): Promise<readonly ImageToCopy[]> {
  const images: ImageToCopy[] = [];
  const read = new Set<string>();
  for (const [index, chosen] of catalogs.entries()) {
    const folder = join(options.folder, `catalog-${index}`);
    await options.run.attempt({ source: chosen.catalog }, async () => {
      options.run.tell({ kind: 'reading', source: chosen.catalog });
      const { place, bundles } = await readCatalog(chosen, list, { ...options, folder });
      images.push(place);
      await addBundles(bundles, list, { ...options, read });
    });
  }
  return images;
}

interface ReadCatalog {
  readonly place: ImageToCopy;
  readonly bundles: readonly MirroredBundle[];
}

async function readCatalog(
  chosen: ChosenCatalog,
  list: MirrorList,
  options: PlanOptions,
): Promise<ReadCatalog> {
  const { source, path, tag } = placeOnMirror(chosen);
  list.claimTag(path, tag, source);
  const note = (text: string): void => options.run.tell({ kind: 'note', text });
  const isWhole = chosen.full && chosen.packages.length === 0 && !isPlace(chosen.catalog);
  if (!isWhole) {
    const bundles = await writePrunedCatalog(chosen, { ...options, note });
    return { place: { source, path, tag, ...(await prunedCatalog(options)) }, bundles };
  }
  const reference = await pinned(parseImageReference(chosen.catalog), options);
  const catalog = sourceText(reference);
  const bundles = await writePrunedCatalog({ ...chosen, catalog }, { ...options, note });
  const place = await wholeCatalog(reference, options);
  return { place: { source, path, tag, ...place }, bundles };
}

type CatalogToCopy = Omit<ImageToCopy, 'source' | 'path' | 'tag'>;

/** A whole catalog keeps its image and signatures. */
async function wholeCatalog(
  reference: ImageReference,
  { access, signal }: PlanOptions,
): Promise<CatalogToCopy> {
  const open = () => access.open({ kind: 'registry', reference }, signal);
  const image = await open();
  try {
    const { labels } = await platformImage(image, signal);
    const catalog = { directory: labels[configsLabel] ?? '/configs', isPruned: false };
    return { open, host: registryHost(reference.domain), repository: reference.path, catalog };
  } finally {
    await image.place.close();
  }
}

async function prunedCatalog({ access, folder, signal }: PlanOptions): Promise<CatalogToCopy> {
  const layout = `${folder}-image`;
  await buildPrunedImage(folder, layout, { access, signal });
  return {
    open: () => access.open({ kind: 'layout', path: layout }, signal),
    host: layout,
    repository: '',
    catalog: { directory: '/configs', isPruned: true },
  };
}

/**
 * The reference with the digest that its tag has now: the tag may move between two requests, and
 * the image that is copied must be the one whose images are listed.
 */
async function pinned(
  reference: ImageReference,
  { access, signal }: PlanOptions,
): Promise<ImageReference> {
  if (reference.digest !== undefined) return reference;
  const { place, manifest } = await access.open({ kind: 'registry', reference }, signal);
  await place.close();
  return { ...reference, digest: manifest.digest };
}

function placeOnMirror({ catalog, targetCatalog = '', targetTag }: ChosenCatalog) {
  if (isPlace(catalog)) return { source: catalog, path: targetCatalog, tag: targetTag ?? 'latest' };
  const reference = parseImageReference(catalog);
  const { path, digest, tag = digest === undefined ? 'latest' : tagOfDigest(digest) } = reference;
  const source = sourceText(digest === undefined ? { ...reference, tag } : reference);
  return { source, path: targetCatalog === '' ? path : targetCatalog, tag: targetTag ?? tag };
}

interface BundlesOptions extends PlanOptions {
  /**
   * Bundle images that were read. That the list has one is no proof: the image set, or another
   * bundle, may name it too.
   */
  readonly read: Set<string>;
}

/** Adds the images that bundles name, in the catalog and in their own images. */
async function addBundles(
  bundles: readonly MirroredBundle[],
  list: MirrorList,
  { read, ...options }: BundlesOptions,
): Promise<void> {
  const unread: (readonly [bundle: string, image: WantedImage])[] = [];
  for (const { name: bundle, image, images } of bundles) {
    const wanted = image === '' ? undefined : list.add(image, bundle);
    if (wanted !== undefined && !read.has(wanted.source)) {
      read.add(wanted.source);
      unread.push([bundle, wanted]);
    }
    for (const related of images) list.addOfBundle(related, bundle, wanted);
  }
  await inParallel(unread, imagesAtOnce, async ([bundle, wanted]) => {
    const { source } = wanted;
    const host = registryHost(wanted.reference.domain);
    await options.run.attempt({ source, bundle, host }, async () => {
      const reference = await pinned(wanted.reference, options);
      list.pin(wanted, reference);
      for (const image of await imagesOfBundle(sourceText(reference), options)) {
        list.addOfBundle(image, bundle, wanted);
      }
    });
  });
}

import { type RegistryAccess, registryHost } from '../../core/registry/index.ts';
import type { ImageSet } from './image-set/image-set.ts';
import type { ImageToCopy } from './image-to-copy.ts';
import { MirrorList, type WantedImage } from './mirror-list.ts';
import type { MirrorRun } from './mirror-run.ts';

export interface PlanOptions {
  readonly run: MirrorRun;
  readonly access: RegistryAccess;
  /** Folder for pruned catalogs; the caller keeps it until all images have been copied. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * The images of an image set: its own, then those of the bundles in its catalogs, and last the
 * catalogs. Records unreadable ones as failures of the run.
 */
export async function imagesOfSet(
  { catalogs, additionalImages, blockedImages }: ImageSet,
  options: PlanOptions,
): Promise<readonly ImageToCopy[]> {
  const list = new MirrorList(blockedImages);
  for (const image of additionalImages) list.add(image);
  const catalogImages: ImageToCopy[] = [];
  if (catalogs.length > 0) {
    // An image set without catalogs does not load their code.
    const { readCatalogs } = await import('./catalogs/catalog-plan.ts');
    catalogImages.push(...(await readCatalogs(catalogs, list, options)));
  }
  for (const { image, bundle, problem } of list.refused) {
    options.run.fail({ source: image, bundle }, problem);
  }
  const images = list.images.map((image) => toCopy(image, list.needsOf(image), options));
  return [...images, ...catalogImages];
}

function toCopy(
  { source, reference, path, tag, bundle }: WantedImage,
  needs: readonly string[] | undefined,
  { access, signal }: PlanOptions,
): ImageToCopy {
  return {
    source,
    path,
    tag,
    bundle,
    needs,
    host: registryHost(reference.domain),
    repository: reference.path,
    open: () => access.open({ kind: 'registry', reference }, signal),
  };
}

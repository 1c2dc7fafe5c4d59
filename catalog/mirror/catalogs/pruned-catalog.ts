import type { RegistryAccess } from '../../../core/registry/index.ts';
import { type Blob, decodeBundle, writeJson } from '../../blobs/index.ts';
import {
  type CatalogSelection,
  type ChosenVersions,
  type PackageSelection,
  pruneCatalog,
  versionsBetween,
} from '../../compare/index.ts';
import { buildCatalogImage } from '../../images/index.ts';
import { configOf, loadDirectory, openCatalog } from '../../load/index.ts';
import { SpooledCatalog, writeCatalogFiles } from '../../render/index.ts';
import type { ChosenCatalog, ChosenPackage, VersionRange } from '../image-set/image-set.ts';
import { imagesOfBlob } from './bundle-images.ts';

export interface CatalogOptions {
  readonly access: RegistryAccess;
  /** New directory for the pruned catalog. */
  readonly folder: string;
  /** Called with sentences: which bundles are mirrored that nobody chose, and why. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** A bundle that is mirrored with its catalog. */
export interface MirroredBundle {
  readonly name: string;
  readonly image: string;
  /** The images that the catalog names, including its own. */
  readonly images: readonly string[];
}

/**
 * Writes the chosen part of a catalog into a folder.
 * @returns its bundles
 * @throws BlobError, TerminalError for an invalid catalog, or one that lacks the chosen content
 */
export async function writePrunedCatalog(
  chosen: ChosenCatalog,
  { access, folder, note, signal }: CatalogOptions,
): Promise<readonly MirroredBundle[]> {
  const place = chosen.catalog.replace(/^file:(?:\/\/)?/, '');
  const catalog = await openCatalog(place, { registry: async () => access, signal });
  try {
    const bundles: MirroredBundle[] = [];
    const read = (): AsyncIterable<Blob> => loadDirectory(catalog.dir, { signal });
    using pruned = new SpooledCatalog(writeJson);
    for await (const blob of pruneCatalog(read, selectionOf(chosen), { note })) {
      pruned.add(configOf(blob));
      if (blob.schema === 'olm.bundle') bundles.push(mirroredBundle(blob));
    }
    await writeCatalogFiles(pruned, folder, { extension: 'json', signal });
    return bundles;
  } finally {
    await catalog.close();
  }
}

/** Writes the image of a pruned catalog into a temporary OCI layout. */
export async function buildPrunedImage(
  folder: string,
  layout: string,
  { access, signal }: Pick<CatalogOptions, 'access' | 'signal'>,
): Promise<void> {
  const image = await buildCatalogImage(folder, { signal });
  try {
    const { target } = await access.openTarget(
      { kind: 'layout', path: layout },
      { isTemporary: true },
    );
    try {
      await image.push(target, undefined, signal);
    } finally {
      await target.close();
    }
  } finally {
    await image.close();
  }
}

function mirroredBundle(blob: Blob): MirroredBundle {
  const bundle = decodeBundle(blob);
  return { name: bundle.name, image: bundle.image, images: imagesOfBlob(bundle) };
}

/** The part of a catalog that oc-mirror mirrors for the same image set. */
export function selectionOf({ full, packages, skipDependencies }: ChosenCatalog): CatalogSelection {
  const versions = full ? 'all' : 'head';
  const others = packages.length === 0 ? { channels: wholeOrDefault(full, versions) } : undefined;
  return {
    packages: new Map(packages.map((chosen) => [chosen.name, ofPackage(chosen, full)])),
    others,
    skipDependencies,
  };
}

function ofPackage(chosen: ChosenPackage, full: boolean): PackageSelection {
  const { channels, defaultChannel } = chosen;
  if (channels.length > 0) {
    const named = channels.map((channel) => ({
      name: channel.name,
      versions: versionsOf(channel, full),
    }));
    return { channels: named, defaultChannel };
  }
  return { channels: wholeOrDefault(full, versionsOf(chosen, full)), defaultChannel };
}

/** A range applies to the default channel; `full` selects all channels. */
function wholeOrDefault(full: boolean, versions: ChosenVersions): PackageSelection['channels'] {
  return { which: full ? 'all' : 'default', versions };
}

function versionsOf({ minVersion, maxVersion }: VersionRange, full: boolean): ChosenVersions {
  if (minVersion !== undefined || maxVersion !== undefined) {
    return versionsBetween(minVersion, maxVersion);
  }
  return full ? 'all' : 'head';
}

import {
  type CatalogSelection,
  type ChosenVersions,
  type PackageSelection,
  versionsBetween,
} from '../../compare/index.ts';
import type { ChosenCatalog, ChosenPackage, VersionRange } from '../image-set/image-set.ts';

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

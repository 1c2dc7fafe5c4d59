import {
  isInRange,
  parseConstraint,
  parseRange,
  satisfies,
  type Version,
  VersionError,
  type VersionRange,
  versionText,
} from '../versions/index.ts';
import type { Channel, ChannelEntry } from './package-content.ts';

/** Why an entry of a channel is an upgrade from a bundle. */
export type UpgradeEdge = 'replaces' | 'skips' | 'skipRange';

/**
 * What a bundle may be upgraded to, besides staying as it is.
 * `semver`: higher versions without a breaking change (`^V, != V`).
 * `replaces`: bundles with a channel entry that replaces it.
 * `graph`: bundles with a channel entry that replaces it, skips it, or has it in its skipRange.
 * `any`: every bundle, lower versions too.
 */
export type UpgradePolicy = 'semver' | 'replaces' | 'graph' | 'any';

/** A bundle to upgrade from; the catalogs need not have it. */
export interface UpgradeStart {
  readonly name: string;
  readonly version: Version | undefined;
}

/** How the entry upgrades the bundle; undefined if it does not. */
export function upgradeEdge(entry: ChannelEntry, from: UpgradeStart): UpgradeEdge | undefined {
  if (entry.replaces === from.name && from.name !== '') return 'replaces';
  if (entry.skips.includes(from.name)) return 'skips';
  const range = from.version && readSkipRange(entry.skipRange);
  const isSkipped = from.version !== undefined && range !== undefined;
  return isSkipped && isInRange(from.version, range) ? 'skipRange' : undefined;
}

/** Undefined without a range, and for an invalid one, which upgrades nothing. */
export function readSkipRange(text = ''): VersionRange | undefined {
  if (text === '') return undefined;
  try {
    return parseRange(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/**
 * The names of all entries that upgrade a bundle, each with its first edge in the channels.
 * @param only counts; all edges if undefined
 */
export function graphSuccessors(
  channels: readonly Channel[],
  from: UpgradeStart,
  only?: UpgradeEdge,
): ReadonlyMap<string, UpgradeEdge> {
  const successors = new Map<string, UpgradeEdge>();
  for (const entry of channels.flatMap(({ entries }) => entries)) {
    const edge = upgradeEdge(entry, from);
    const counts = edge !== undefined && (only ?? edge) === edge;
    if (counts && !successors.has(entry.name)) successors.set(entry.name, edge);
  }
  return successors;
}

/**
 * Whether a version is an upgrade by its number alone: higher, without a change of the major
 * version, or of the first number after leading zeros. From a release there is no upgrade to a
 * prerelease.
 */
export function semverSuccessors(from: Version): (version: Version) => boolean {
  const text = versionText({ ...from, build: [] });
  const constraint = parseConstraint(`^${text}, != ${text}`);
  return (version) => satisfies(version, constraint);
}

/** Why a higher version is no upgrade by its number. */
export function whyNoSemverSuccessor(version: Version, from: Version): 'prerelease' | 'breaking' {
  const isOnlyPrerelease = semverSuccessors(from)({ ...version, prerelease: [] });
  return isOnlyPrerelease ? 'prerelease' : 'breaking';
}

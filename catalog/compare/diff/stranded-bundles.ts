import { compareBytes } from '../../../api/byte-order.ts';
import { type Version, versionText } from '../../../resolver/versions/index.ts';
import { channelHeads } from '../../validate/index.ts';
import { stepsToHead } from '../upgrade-paths.ts';
import { byVersion } from '../version-order.ts';
import type { CatalogSnapshot, ChannelSnapshot, PackageSnapshot } from './catalog-snapshot.ts';
import type { Stranded } from './diff-model.ts';

/**
 * Bundles that have a path to the head in an old channel but not in the new one, lowest version
 * first.
 */
export function strandedBundles(
  before: CatalogSnapshot,
  after: CatalogSnapshot,
): readonly Stranded[] {
  return [...before.packages.values()]
    .toSorted((a, b) => compareBytes(a.name, b.name))
    .flatMap((old) => strandedOf(old, after.packages.get(old.name)));
}

function strandedOf(old: PackageSnapshot, now: PackageSnapshot | undefined): readonly Stranded[] {
  const versions = new Map(
    [...(now?.bundles ?? []), ...old.bundles].map(([name, { version }]) => [name, version]),
  );
  const order = byVersion((name) => versions.get(name));
  return [...old.channels.values()]
    .toSorted((a, b) => compareBytes(a.name, b.name))
    .flatMap((channel) => {
      const next = now?.channels.get(channel.name);
      const reason = now === undefined ? 'package removed' : reasonOf(next);
      const lastSteps = strandedFrom(channel, next, versions);
      return [...lastSteps.keys()].toSorted(order).map((bundle) => ({
        package: old.name,
        channel: channel.name,
        bundle,
        version: textOf(versions.get(bundle)),
        reason,
        lastStep: reason === 'upgrade removed' ? lastSteps.get(bundle) : undefined,
      }));
    });
}

function reasonOf(channel: ChannelSnapshot | undefined): Stranded['reason'] {
  if (channel === undefined) return 'channel removed';
  return channelHeads(channel.entries).length === 1 ? 'upgrade removed' : 'channel invalid';
}

/** Stranded bundles, each with the removed step of its old path. */
function strandedFrom(
  before: ChannelSnapshot,
  after: ChannelSnapshot | undefined,
  versions: ReadonlyMap<string, Version | undefined>,
): ReadonlyMap<string, Stranded['lastStep']> {
  const left = stepsToHead(after?.entries ?? new Map(), versions);
  const stranded = new Map<string, Stranded['lastStep']>();
  // The steps come from the head down, so the next bundle of each path is already known.
  for (const [bundle, next] of stepsToHead(before.entries, versions)) {
    if (!before.entries.has(bundle) || left.has(bundle)) continue;
    const step = next === undefined ? { from: bundle } : { from: bundle, to: next };
    stranded.set(bundle, stranded.get(next ?? '') ?? step);
  }
  return stranded;
}

function textOf(version: Version | undefined): string {
  return version === undefined ? '' : versionText(version);
}

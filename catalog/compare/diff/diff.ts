import { compareBytes } from '../../../api/byte-order.ts';
import type { Blob } from '../../blobs/index.ts';
import { channelHeads } from '../../validate/index.ts';
import {
  type CatalogSnapshot,
  type ChannelSnapshot,
  type Fields,
  type PackageSnapshot,
  snapshotOf,
} from './catalog-snapshot.ts';
import type {
  CatalogDiff,
  Change,
  ChannelDiff,
  FieldChange,
  NamedChange,
  PackageDiff,
} from './diff-model.ts';
import { strandedBundles } from './stranded-bundles.ts';

/**
 * Compares two catalogs: what was added, removed and changed, and which bundles lose their
 * upgrades. Keeps only names, edges, short values and digests in memory.
 * @throws BlobError for an unreadable blob or a duplicate name
 */
export async function diffCatalogs(
  before: AsyncIterable<Blob>,
  after: AsyncIterable<Blob>,
): Promise<CatalogDiff> {
  const [old, now] = [await snapshotOf(before), await snapshotOf(after)];
  const packages = packageDiffs(old, now);
  const blobs = packages.find(({ name }) => name === '')?.blobs ?? [];
  return {
    packages: packages.filter(({ name }) => name !== ''),
    blobs,
    stranded: strandedBundles(old, now),
  };
}

function packageDiffs(before: CatalogSnapshot, after: CatalogSnapshot): readonly PackageDiff[] {
  return compared(before.packages, after.packages, (old, now) => {
    const parts = {
      fields: fieldChanges(old?.fields, now?.fields),
      channels: channelDiffs(old, now),
      bundles: compared(old?.bundles, now?.bundles, (a, b) => ({
        fields: fieldChanges(a?.fields, b?.fields),
      })),
      deprecations: compared(old?.deprecations, now?.deprecations, textChange('message')),
      blobs: compared(old?.blobs, now?.blobs, textChange('content')),
    };
    return parts;
  });
}

function channelDiffs(
  before: PackageSnapshot | undefined,
  after: PackageSnapshot | undefined,
): readonly ChannelDiff[] {
  return compared(before?.channels, after?.channels, (old, now) => ({
    fields: fieldChanges(channelFields(old), channelFields(now)),
    entries: compared(old?.entries, now?.entries, (a, b) => ({
      fields: fieldChanges(a && edges(a), b && edges(b)),
    })),
  }));
}

function channelFields(channel: ChannelSnapshot | undefined): Fields | undefined {
  if (channel === undefined) return undefined;
  return new Map([['head', channelHeads(channel.entries).join('\n')], ...channel.fields]);
}

function edges({
  replaces,
  skips,
  skipRange,
}: {
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
}): Fields {
  return new Map([
    ['replaces', replaces],
    ['skips', [...new Set(skips)].sort(compareBytes).join('\n')],
    ['skipRange', skipRange],
  ]);
}

function textChange(
  field: string,
): (before: string | undefined, after: string | undefined) => { fields: readonly FieldChange[] } {
  const fields = (text: string | undefined) =>
    text === undefined ? undefined : new Map([[field, text]]);
  return (before, after) => ({ fields: fieldChanges(fields(before), fields(after)) });
}

type Parts = { readonly fields: readonly FieldChange[] } & Readonly<
  Record<string, readonly unknown[]>
>;

/** Differences by name: values in only one of the maps, and values with parts that differ. */
function compared<T, P extends Parts>(
  before: ReadonlyMap<string, T> | undefined,
  after: ReadonlyMap<string, T> | undefined,
  compare: (before: T | undefined, after: T | undefined) => P,
): readonly (P & NamedChange)[] {
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...names].sort(compareBytes).flatMap((name) => {
    const parts = compare(before?.get(name), after?.get(name));
    const change = changeOf(before?.has(name) === true, after?.has(name) === true);
    const differs = change !== 'changed' || Object.values(parts).some(({ length }) => length > 0);
    return differs ? [{ name, change, ...parts }] : [];
  });
}

function changeOf(isBefore: boolean, isAfter: boolean): Change {
  if (isBefore && isAfter) return 'changed';
  return isBefore ? 'removed' : 'added';
}

function fieldChanges(before: Fields | undefined, after: Fields | undefined): FieldChange[] {
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...names].flatMap((field) => {
    const [old, now] = [lines(before?.get(field)), lines(after?.get(field))];
    const removed = [...old.difference(now)];
    const added = [...now.difference(old)];
    return removed.length + added.length === 0 ? [] : [{ field, removed, added }];
  });
}

function lines(text = ''): ReadonlySet<string> {
  return new Set(text === '' ? [] : text.split('\n'));
}

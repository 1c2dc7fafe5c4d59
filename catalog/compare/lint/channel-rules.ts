import { quoted } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import {
  compareVersions,
  isInRange,
  parseRange,
  rangeProblem,
  versionText,
} from '../../../resolver/versions/index.ts';
import { channelHeads } from '../../validate/index.ts';
import { stepsToHead } from '../upgrade-paths.ts';
import { byVersion } from '../version-order.ts';
import type { FieldPath, Found, LintBundle, LintChannel, LintPackage } from './lint-model.ts';

/** An entry that replaces or skips a higher version. */
export function* upgradeOrder(checked: LintPackage): Generator<Found> {
  for (const { at, edge, target } of edgesOf(checked)) {
    const [own, lower] = [
      checked.bundles.get(at.bundle)?.version,
      checked.bundles.get(target)?.version,
    ];
    if (own === undefined || lower === undefined || compareVersions(own, lower) >= 0) continue;
    yield {
      ...at,
      message: `${edge} ${target}, whose version ${versionText(lower)} is higher than its own, ${versionText(own)}: clusters that have it are downgraded`,
    };
  }
}

/** An entry that replaces a bundle that the package lacks. */
export function* replacesMissing(checked: LintPackage): Generator<Found> {
  for (const { at, edge, target } of edgesOf(checked)) {
    if (edge !== 'replaces' || checked.bundles.has(target)) continue;
    yield {
      ...at,
      message: `replaces ${target}, which the catalog does not have: only clusters that have it already upgrade from it`,
    };
  }
}

interface Edge {
  readonly at: Omit<Found, 'message'> & { readonly bundle: string };
  readonly edge: 'replaces' | 'skips';
  readonly target: string;
}

function* edgesOf({ channels }: LintPackage): Generator<Edge> {
  for (const channel of channels.values()) {
    for (const { at, entry } of entriesOf(channel)) {
      const { path } = at;
      if (entry.replaces !== '') {
        yield {
          at: { ...at, path: [...path, 'replaces'] },
          edge: 'replaces',
          target: entry.replaces,
        };
      }
      for (const [index, target] of entry.skips.entries()) {
        yield { at: { ...at, path: [...path, 'skips', index] }, edge: 'skips', target };
      }
    }
  }
}

interface Entry {
  readonly at: Edge['at'] & { readonly path: FieldPath };
  readonly entry: LintChannel['entries'] extends ReadonlyMap<string, infer E> ? E : never;
}

function* entriesOf({ name, place, entries }: LintChannel): Generator<Entry> {
  let index = 0;
  for (const entry of entries.values()) {
    yield { at: { place, channel: name, bundle: entry.name, path: ['entries', index] }, entry };
    index += 1;
  }
}

/** An entry from which no path leads to the head. */
export function* unreachableVersion({ channels, bundles }: LintPackage): Generator<Found> {
  const versions = new Map([...bundles].map(([name, { version }]) => [name, version]));
  for (const channel of channels.values()) {
    const [head, other] = channelHeads(channel.entries);
    if (head === undefined || other !== undefined) continue;
    const steps = stepsToHead(channel.entries, versions);
    for (const { at } of entriesOf(channel)) {
      if (steps.has(at.bundle)) continue;
      yield { ...at, message: `no upgrade leads from it to the head, ${head}` };
    }
  }
}

/** A head that is not the highest version of its channel. */
export function* headVersion({ channels, bundles }: LintPackage): Generator<Found> {
  const order = byVersion((name) => bundles.get(name)?.version);
  for (const { name, place, entries } of channels.values()) {
    const [head = '', other] = channelHeads(entries);
    const [own, highest = ''] = [bundles.get(head), [...entries.keys()].sort(order).at(-1)];
    const above = bundles.get(highest);
    if (other !== undefined || !isAbove(above, own)) continue;
    yield {
      place,
      channel: name,
      bundle: head,
      message: `its head ${head} is lower than ${highest}, which nobody gets by default`,
    };
  }
}

function isAbove(a: LintBundle | undefined, b: LintBundle | undefined): boolean {
  if (a?.version === undefined || b?.version === undefined) return false;
  return compareVersions(a.version, b.version) > 0;
}

/** A skipRange that includes the version of its own bundle. */
export function* ownSkipRange({ channels, bundles }: LintPackage): Generator<Found> {
  for (const channel of channels.values()) {
    for (const { at, entry } of entriesOf(channel)) {
      const version = bundles.get(entry.name)?.version;
      const { skipRange } = entry;
      if (version === undefined || skipRange === '' || rangeProblem(skipRange) !== undefined)
        continue;
      if (!isInRange(version, parseRange(skipRange))) continue;
      yield {
        ...at,
        path: [...at.path, 'skipRange'],
        message: `skipRange ${quoted(skipRange)} has its own version ${versionText(version)}: end it with <${versionText(version)}`,
      };
    }
  }
}

/** A channel that is not deprecated, but whose head is. */
export function* deprecatedHead({ channels, deprecations }: LintPackage): Generator<Found> {
  const names = (schema: string) =>
    new Set(deprecations.filter((each) => each.schema === schema).map(({ name }) => name));
  const [oldBundles, oldChannels] = [names('olm.bundle'), names('olm.channel')];
  for (const { name, place, entries } of channels.values()) {
    if (oldChannels.has(name)) continue;
    const head = channelHeads(entries).find((each) => oldBundles.has(each));
    if (head === undefined) continue;
    const message = `its head ${head} is deprecated, and the channel is not`;
    yield { place, channel: name, bundle: head, message };
  }
}

/** Bundles that another entry skips in each of their channels, so OLM never installs them. */
export function* neverInstalled({ own, channels, bundles }: LintPackage): Generator<Found> {
  const offered = new Set<string>();
  for (const { entries } of channels.values()) {
    const skipped = new Set([...entries.values()].flatMap(({ skips }) => skips));
    for (const name of entries.keys()) if (!skipped.has(name)) offered.add(name);
  }
  const names = [...bundles.keys()].filter((name) => !offered.has(name));
  const [place] = [own, ...channels.values()].flatMap((each) => each?.place ?? []);
  if (place === undefined || names.length === 0) return;
  const order = byVersion((name) => bundles.get(name)?.version);
  const [they, their] = names.length === 1 ? ['it', 'its'] : ['them', 'their'];
  const list = shortList(names.sort(order), 5);
  const message = `OLM never installs ${list}: other entries skip ${they} in each of ${their} channels`;
  yield { place, message };
}

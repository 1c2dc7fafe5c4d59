import { channelOrder, compareChannels } from '../../candidates/index.ts';
import type { Variable } from '../../solver/index.ts';
import { isInRange } from '../../versions/index.ts';
import { compareText, type Entry } from '../entries/entry.ts';
import type { EntryIndex } from '../entries/entry-index.ts';
import type { Subscription } from '../namespace-request.ts';
import type { BundleVariable, BundleVariables } from './bundle-variables.ts';

/**
 * The variable of a Subscription: it requires one of the bundles that it may install, or the installed
 * one, which is the last choice. Adds the bundles to `bundles`.
 *
 * @throws ChannelError if a channel of the package has no order
 * @throws ResolutionError
 * @throws BudgetError
 */
export function subscriptionVariable(
  subscription: Subscription,
  index: EntryIndex,
  bundles: BundleVariables,
): Variable {
  const current = index.installed.find(({ name }) => name === subscription.installedCSV);
  const found = find(subscription, current, index);
  if (typeof found === 'string') return invalidSubscription(subscription.name, found);
  index.budget.takeSort(found.length);
  const byName = Map.groupBy(found, ({ name }) => name);
  const candidates = sortedEntries(found)
    .filter((entry) => current === undefined || replaces(entry, current))
    .flatMap((entry) => {
      const names = namesakes(entry, byName);
      index.budget.take(findSteps * names.length);
      return bundles.add(names);
    });
  for (const candidate of candidates) if (current !== undefined) replace(candidate, current);
  const ids = [...candidates, ...(current === undefined ? [] : [current])].map(({ id }) => id);
  return validSubscription(subscription.name, ids);
}

/** Steps of a look at an entry. */
const findSteps = 10;

/** The entries that the Subscription names, or what it names and the catalog does not have. */
function find(
  { name, packageName, channel, catalog, startingCSV }: Subscription,
  current: Entry | undefined,
  index: EntryIndex,
): readonly Entry[] | string {
  const by = `referenced by subscription ${name}`;
  if (!index.hasCatalog(catalog))
    return `no operators found from catalog ${catalog.name} in namespace ${catalog.namespace} ${by}`;
  const all = index.ofPackage(packageName);
  index.budget.take(findSteps * (1 + all.length + index.installed.length));
  const ofPackage = all.filter((entry) => isIn(catalog, entry));
  if (ofPackage.length === 0)
    return `no operators found in package ${packageName} in the catalog ${by}`;
  const ofChannel = ofPackage.filter((entry) => channel === '' || entry.channel === channel);
  const place = `in channel ${channel} of package ${packageName} in the catalog ${by}`;
  if (ofChannel.length === 0) return `no operators found ${place}`;
  if (current !== undefined || startingCSV === '') return ofChannel;
  const starting = ofChannel.filter((entry) => entry.name === startingCSV);
  return starting.length === 0 ? `no operators found with name ${startingCSV} ${place}` : starting;
}

function isIn({ name, namespace }: Subscription['catalog'], { catalog }: Entry): boolean {
  return catalog.name === name && catalog.namespace === namespace;
}

/** Channel after channel, the default one first, and each from its head down. */
function sortedEntries(entries: readonly Entry[]): readonly Entry[] {
  const sorted = entries.toSorted((a, b) =>
    compareChannels({ ...a, packageName: '' }, { ...b, packageName: '' }),
  );
  const channels = Map.groupBy(sorted, ({ channel }) => channel);
  return [...channels.values()].flatMap((channel) => {
    const [first] = channel;
    return first === undefined ? [] : channelOrder(channel, first);
  });
}

/** One bundle may be in several channels: the one that is preferred, and the others by id. */
function namesakes(entry: Entry, byName: ReadonlyMap<string, readonly Entry[]>): readonly Entry[] {
  const others = (byName.get(entry.name) ?? []).filter((each) => each !== entry);
  return [entry, ...others.toSorted((a, b) => compareText(a.id, b.id))];
}

function replaces(entry: Entry, { name, version }: Entry): boolean {
  const skipsVersion =
    version !== undefined && entry.skipRange !== undefined && isInRange(version, entry.skipRange);
  return skipsVersion || entry.replaces === name || entry.skips.includes(name);
}

function replace(candidate: BundleVariable, current: Entry): void {
  candidate.replaces = current.name;
  candidate.constraints.push({
    kind: 'conflict',
    id: current.id,
    text: `${candidate.id} conflicts with ${current.id}`,
  });
}

function invalidSubscription(name: string, reason: string): Variable {
  return {
    id: `subscription:${name}`,
    constraints: [
      { kind: 'mandatory', text: `subscription ${name} exists` },
      { kind: 'prohibited', text: reason },
    ],
  };
}

function validSubscription(name: string, ids: readonly string[]): Variable {
  const text =
    ids.length === 0
      ? `no operators found matching the criteria of subscription ${name}`
      : `subscription ${name} requires ${alternatives(ids)}`;
  return {
    id: `subscription:${name}`,
    constraints: [
      { kind: 'mandatory', text: `subscription ${name} exists` },
      { kind: 'dependency', ids, text },
    ],
  };
}

function alternatives(ids: readonly string[]): string {
  if (ids.length === 1) return ids.join('');
  return `at least one of ${ids.slice(0, -1).join(', ')} or ${ids.at(-1)}`;
}

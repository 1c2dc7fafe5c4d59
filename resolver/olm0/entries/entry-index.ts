import type { Budget } from '../../budget.ts';
import {
  type CatalogReference,
  channelOrder,
  compareCatalogs,
  compareChannels,
  type Property,
} from '../../candidates/index.ts';
import {
  constraintsOf,
  packageNames,
  providedApis,
  type Requirement,
} from '../../constraints/index.ts';
import type { Entry } from './entry.ts';

/** A requirement that bundles with equal properties share. */
export interface SharedRequirement {
  readonly property: Property;
  readonly requirement: Requirement;
}

/** Entries that meet a requirement, by preference. */
export interface Candidates {
  readonly entries: readonly Entry[];
  readonly ids: readonly string[];
}

/** What a namespace's resolution considers. */
export interface Considered {
  readonly namespace: string;
  readonly installed: readonly Entry[];
  readonly catalogs: ReadonlyMap<CatalogReference, readonly Entry[]>;
}

/** Steps of an entry in the index, of one in an order, and of a property in its key. */
const steps = { add: 60, order: 10, property: 20 };

/**
 * All entries that a namespace's resolution considers: finds them by what they provide, and orders them
 * by preference. Each answer is computed once.
 */
export class EntryIndex {
  readonly budget: Budget;
  readonly #namespace: string;
  readonly #installed: readonly Entry[];
  readonly #catalogs = new Map<CatalogReference, readonly Entry[]>();
  readonly #byApi = new Map<string, Entry[]>();
  readonly #byPackage = new Map<string, Entry[]>();
  readonly #channels = new Map<string, Entry[]>();
  readonly #requirements = new Map<string, SharedRequirement | undefined>();
  readonly #required = new Map<readonly Property[], readonly SharedRequirement[]>();
  readonly #matches = new Map<SharedRequirement, ReadonlySet<Entry>>();
  readonly #candidates = new Map<SharedRequirement, Map<CatalogReference, Candidates>>();
  readonly #orders = new Map<string, readonly Entry[]>();

  /** @throws BudgetError */
  constructor({ namespace, installed, catalogs }: Considered, budget: Budget) {
    this.budget = budget;
    this.#namespace = namespace;
    this.#installed = installed;
    for (const [catalog, entries] of catalogs) this.#catalogs.set(catalog, entries);
    for (const entry of this.#all()) this.#add(entry);
  }

  *#all(): Generator<Entry> {
    yield* this.#installed;
    for (const entries of this.#catalogs.values()) yield* entries;
  }

  #add(entry: Entry): void {
    const { apis: provided, packageNames: packages, skips } = entry;
    this.budget.take(steps.add * (1 + provided.length) + packages.length + skips.length);
    const apis = new Set(entry.apis.map((api) => JSON.stringify(api)));
    for (const api of apis) addTo(this.#byApi, api, entry);
    const names = new Set([entry.packageName, ...entry.packageNames]);
    for (const name of names) addTo(this.#byPackage, name, entry);
    addTo(this.#channels, channelKey(entry), entry);
  }

  get installed(): readonly Entry[] {
    return this.#installed;
  }

  /** Whether the catalog is considered and has entries. */
  hasCatalog({ name, namespace }: Pick<CatalogReference, 'name' | 'namespace'>): boolean {
    for (const [catalog, entries] of this.#catalogs)
      if (catalog.name === name && catalog.namespace === namespace) return entries.length > 0;
    return false;
  }

  /** The entries of a package, in all catalogs. */
  ofPackage(name: string): readonly Entry[] {
    return this.#byPackage.get(name) ?? [];
  }

  /**
   * What a bundle requires, duplicates included.
   * @throws ConstraintError
   * @throws BudgetError
   */
  requirementsOf({ properties }: Entry): readonly SharedRequirement[] {
    const known = this.#required.get(properties);
    this.budget.take(1);
    if (known !== undefined) return known;
    this.budget.take(steps.property * properties.length);
    const required = properties.flatMap((property) => this.#requirementOf(property) ?? []);
    this.#required.set(properties, required);
    return required;
  }

  #requirementOf(property: Property): SharedRequirement | undefined {
    const key = keyOf(property);
    this.budget.take(key.length / 8);
    if (this.#requirements.has(key)) return this.#requirements.get(key);
    const [requirement] = constraintsOf([property], this.budget);
    const shared = requirement === undefined ? undefined : { property, requirement };
    this.#requirements.set(key, shared);
    return shared;
  }

  /**
   * The entries that meet a bundle's requirement.
   * @throws ChannelError if a channel that has one of them has no order.
   * @throws BudgetError
   */
  candidatesOf(required: SharedRequirement, { catalog }: Entry): Candidates {
    const byCatalog = this.#candidates.get(required) ?? new Map<CatalogReference, Candidates>();
    this.#candidates.set(required, byCatalog);
    const known = byCatalog.get(catalog);
    if (known !== undefined) return known;
    const matches = this.#matchesOf(required);
    const ordered = this.#ordered(matches, catalog);
    this.budget.take(steps.order * ordered.length);
    const entries = ordered.filter((entry) => matches.has(entry));
    const candidates = { entries, ids: entries.map(({ id }) => id) };
    byCatalog.set(catalog, candidates);
    return candidates;
  }

  #matchesOf(required: SharedRequirement): ReadonlySet<Entry> {
    const known = this.#matches.get(required);
    if (known !== undefined) return known;
    const { requirement } = required;
    const matches = new Set(
      [...this.#possible(required)].filter((entry) => requirement.isMetBy(entry)),
    );
    this.#matches.set(required, matches);
    return matches;
  }

  /** Few entries of which none that matches is missing. */
  #possible({ property: { type, value } }: SharedRequirement): Iterable<Entry> {
    const [api] = type === 'olm.gvk.required' ? providedApis([{ type: 'olm.gvk', value }]) : [];
    if (api !== undefined) return this.#byApi.get(JSON.stringify(api)) ?? [];
    const [name] =
      type === 'olm.package.required' ? packageNames([{ type: 'olm.package', value }]) : [];
    return name === undefined ? this.#all() : (this.#byPackage.get(name) ?? []);
  }

  /** All entries of the channels that have a match, and the installed matches before them. */
  #ordered(matches: ReadonlySet<Entry>, own: CatalogReference): readonly Entry[] {
    this.budget.take(steps.order * matches.size);
    const viewpoint = { catalog: own, namespace: this.#namespace };
    const channels = new Map<string, Entry>();
    const matching = new Set([...matches].filter(firstOfUnowned()));
    for (const entry of matching) channels.set(channelKey(entry), entry);
    this.budget.takeSort(channels.size);
    const sorted = [...channels].toSorted(
      ([, a], [, b]) =>
        Number(b.installed !== undefined) - Number(a.installed !== undefined) ||
        compareCatalogs(a.catalog, b.catalog, viewpoint) ||
        compareChannels(a, b),
    );
    return sorted.flatMap(([key, entry]) => {
      if (entry.installed === undefined) return this.#channelOrder(key, entry);
      const all = this.#channels.get(key) ?? [];
      this.budget.take(steps.order * all.length);
      const installed = all.filter((each) => matching.has(each));
      return channelOrder(installed, entry);
    });
  }

  #channelOrder(key: string, place: Entry): readonly Entry[] {
    const known = this.#orders.get(key);
    if (known !== undefined) return known;
    const entries = this.#channels.get(key) ?? [];
    this.budget.take(steps.order * entries.length);
    const order = channelOrder(entries, place);
    this.#orders.set(key, order);
    return order;
  }
}

/** Of installed bundles of one package, and without Subscription, OLM considers the first match. */
function firstOfUnowned(): (entry: Entry) => boolean {
  const seen = new Set<string>();
  return ({ installed, packageName }) => {
    if (installed?.hasSubscription !== false) return true;
    const isFirst = !seen.has(packageName);
    seen.add(packageName);
    return isFirst;
  };
}

function addTo(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [entry]);
  else known.push(entry);
}

function channelKey({ catalog, packageName, channel }: Entry): string {
  return JSON.stringify([catalog.name, catalog.namespace, packageName, channel]);
}

function keyOf({ type, value }: Property): string {
  return JSON.stringify([type, value], (_key, each: unknown) =>
    typeof each === 'bigint' ? `${each}n` : each,
  );
}

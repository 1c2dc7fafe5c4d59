import type { CatalogReference, Property } from '../../resolver/candidates/index.ts';
import type {
  CatalogContent,
  InstalledBundle,
  NamespaceRequest,
  Subscription,
} from '../../resolver/olm0/index.ts';
import {
  type ABundle,
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  api,
  aSubscription,
  constraint,
  provides,
  requiresApi,
  requiresPackage,
} from './namespaces.ts';

/** Numbers that a seed determines (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, and without, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  percent(share: number): boolean {
    return this.below(100) < share;
  }

  of<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error('Nothing to choose from.');
    return item;
  }

  list<T>(length: number, item: (at: number) => T): T[] {
    return Array.from({ length }, (_, at) => item(at));
  }
}

const kinds = ['A', 'B', 'C', 'D', 'E'];
const packages = ['a', 'b', 'c', 'd', 'e', 'f'];
const ranges = [
  '>=1.0.0',
  '>=2.0.0',
  '<2.0.0',
  '1.0.0',
  '>=1.0.0 <3.0.0',
  '>3.0.0',
  '1.x || 3.0.0',
];

/** A small namespace with some of everything: most of them can be resolved. */
export function generatedNamespace(seed: number): NamespaceRequest {
  const chance = new Chance(seed);
  // Without that most namespaces would fail, and few would have upgrades.
  const isCalm = chance.percent(60);
  const catalogs = catalogsOf(chance, isCalm);
  const bundles = catalogs.flatMap((content) =>
    'packages' in content ? bundlesOf(content.packages) : [],
  );
  const installed = chance.percent(55) ? installedOf(chance, bundles) : [];
  return aNamespace({
    subscriptions: subscriptionsOf(chance, { installed, catalogs, isCalm }),
    installed,
    catalogs,
    operatorGroups: chance.percent(1) ? chance.of([0, 2]) : 1,
    failForward: chance.percent(5),
    ...(chance.percent(3) ? { namespace: 'olm' } : {}),
  });
}

function catalogsOf(chance: Chance, isCalm: boolean): CatalogContent[] {
  const references: CatalogReference[] = [
    { name: 'c1', namespace: 'olm', priority: chance.of([0, 0, -5, 3]) },
    { name: 'c2', namespace: 'olm', priority: chance.of([0, 0, 0, 3]) },
    { name: 'a1', namespace: 'team', priority: 0 },
  ];
  return references.slice(0, chance.of([1, 1, 1, 2, 2, 3])).map((catalog) => {
    if (chance.percent(1)) return { catalog, error: 'failed to list bundles: unreachable' };
    const names = packages.filter(() => chance.percent(65));
    const defaults = Object.fromEntries(names.map((name) => [name, chance.of(['stable', 'beta'])]));
    const bundles = names.flatMap((name) => packageOf(chance, name, isCalm));
    return aCatalog(catalog, bundles, defaults);
  });
}

function packageOf(chance: Chance, packageName: string, isCalm: boolean): ABundle[] {
  const versions = chance.list(chance.of([1, 1, 2, 3, 4]), (at) => at + 1);
  const ofVersion = versions.map((version) =>
    propertiesOf(chance, { packageName, version, isCalm }),
  );
  const channels = chance.of([['stable'], ['stable'], ['stable', 'beta'], ['alpha', 'beta']]);
  return channels.flatMap((channel) => {
    const some = versions.filter(() => channels.length === 1 || chance.percent(75));
    const chosen = some.length === 0 ? versions : some;
    return chosen
      .map((version, at): ABundle => {
        const before = chosen[at - 1];
        return aBundle(`${packageName}.v${version}`, ofVersion[version - 1] ?? [], {
          channel,
          ...(before === undefined ? {} : { replaces: `${packageName}.v${before}` }),
          ...edges(chance, packageName, chosen.slice(0, Math.max(at - 1, 0))),
          ...(chance.percent(isCalm ? 0 : 1) ? defect(chance, packageName) : {}),
        });
      })
      .toReversed();
  });
}

function edges(chance: Chance, packageName: string, before: readonly number[]): Partial<ABundle> {
  const skips = before.filter(() => chance.percent(10)).map((each) => `${packageName}.v${each}`);
  return { skips, ...(chance.percent(8) ? { skipRange: chance.of(ranges) } : {}) };
}

/** Makes a second head, or a cycle. */
function defect(chance: Chance, packageName: string): Partial<ABundle> {
  return { replaces: chance.of(['gone', `${packageName}.v1`, `${packageName}.v2`]) };
}

interface OfVersion {
  readonly packageName: string;
  readonly version: number;
  readonly isCalm: boolean;
}

function propertiesOf(chance: Chance, { packageName, version, isCalm }: OfVersion): Property[] {
  const own = packageName.toUpperCase();
  const apiVersion = version > 2 && chance.percent(40) ? 'v2' : 'v1';
  const sometimes = (calm: number, wild: number, property: () => Property): Property[] =>
    chance.percent(isCalm ? calm : wild) ? [property()] : [];
  return [
    sometimes(75, 75, () => provides(own, apiVersion)),
    sometimes(5, 20, () => provides(chance.of(kinds), apiVersion)),
    sometimes(30, 30, () => ({ type: 'olm.label', value: { label: chance.of(['x', 'y']) } })),
    sometimes(2, 6, () => ({ type: 'olm.deprecated', value: {} })),
    sometimes(20, 45, () => requirementOf(chance)),
    sometimes(5, 20, () => requirementOf(chance)),
    sometimes(10, 20, () => constraint({ failureMessage: 'm', ...compound(chance, 2) })),
    sometimes(0, 1, () => chance.of(invalid)),
  ].flat();
}

function requirementOf(chance: Chance): Property {
  return chance.of([
    () => requiresApi(chance.of(kinds), chance.of(['v1', 'v1', 'v1', 'v2'])),
    () => requiresPackage(chance.of(packages), chance.of(ranges)),
    () => ({ type: 'olm.label.required', value: { label: chance.of(['x', 'y', 'x', 'z']) } }),
  ])();
}

const invalid: readonly Property[] = [
  constraint({ foo: 1 }),
  constraint({}),
  constraint({ package: { packageName: 'a', versionRange: '>=x' } }),
  requiresPackage('a', '^1.0.0'),
];

function compound(chance: Chance, depth: number): object {
  const some = () => ({
    constraints: chance.list(1 + chance.below(2), () => compound(chance, depth - 1)),
  });
  const leaves = [
    () => ({ gvk: api(chance.of(kinds)) }),
    () => ({ package: { packageName: chance.of(packages), versionRange: chance.of(ranges) } }),
    () => ({ cel: { rule: chance.of(rules) } }),
  ];
  const inner = [() => ({ all: some() }), () => ({ any: some() }), () => ({ not: some() })];
  return chance.of(depth === 0 ? leaves : [...leaves, ...inner])();
}

const rules = [
  'properties.exists(p, p.type == "olm.label" && p.value.label == "x")',
  'properties.exists(p, p.type == "olm.package" && semver_compare(p.value.version, "2.0.0") >= 0)',
  'properties.all(p, p.type != "olm.gvk.required")',
  'size(properties) > 3',
];

function bundlesOf(
  content: Extract<CatalogContent, { readonly packages: unknown }>['packages'],
): ABundle[] {
  return content.flatMap(({ name, bundles }) =>
    bundles.map((bundle) =>
      aBundle(bundle.name, bundle.properties.slice(1), { packageName: name }),
    ),
  );
}

function installedOf(chance: Chance, bundles: readonly ABundle[]): InstalledBundle[] {
  const chosen = bundles.filter(() => chance.percent(Math.floor(200 / (bundles.length + 1))));
  const distinct = new Map(chosen.map((bundle) => [bundle.packageName, bundle]));
  return [...distinct.values()].map((bundle) => {
    const phase = chance.percent(5) ? chance.of(['Failed', 'Replacing']) : 'Succeeded';
    if (chance.percent(80)) return anInstalledBundle(bundle, { phase });
    const group = `${bundle.packageName}s.example.com`;
    const kind = bundle.packageName.toUpperCase();
    const name = chance.percent(3) ? 'nodot' : `things.${group}`;
    const owned = { customResourceDefinitions: [{ name, version: 'v1', kind }], apiServices: [] };
    return anInstalledBundle(bundle, { phase, properties: undefined, owned });
  });
}

interface Known {
  readonly installed: readonly InstalledBundle[];
  readonly catalogs: readonly CatalogContent[];
  readonly isCalm: boolean;
}

function subscriptionsOf(chance: Chance, { installed, catalogs, isCalm }: Known): Subscription[] {
  const offered = catalogs.flatMap((content) => ('packages' in content ? content.packages : []));
  const names = packages.filter(
    (name) => chance.percent(35) && (!isCalm || offered.some((each) => each.name === name)),
  );
  return names.map((name) => {
    const content = offered.find((each) => each.name === name);
    const isExact = content !== undefined && chance.percent(isCalm ? 100 : 80);
    const catalog = isExact ? content.catalog : chance.of(catalogs).catalog;
    const channels = isExact ? content.channels.map((each) => each.name) : ['stable', 'beta'];
    const owned = installed.find((each) => each.name.startsWith(`${name}.`));
    const installedCSV = owned !== undefined && chance.percent(85) ? owned.name : '';
    const channel = chance.of([...channels, ...channels, '']);
    return aSubscription(name, {
      catalog,
      channel,
      installedCSV,
      currentCSV: chance.percent(10) ? `${name}.v${1 + chance.below(3)}` : installedCSV,
      startingCSV: chance.percent(isCalm ? 3 : 10) ? `${name}.v${1 + chance.below(3)}` : '',
    });
  });
}

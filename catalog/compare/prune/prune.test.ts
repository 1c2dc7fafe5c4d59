import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../api/json.ts';
import { collected, randomCatalog, reading } from '../../../test/helpers/random-catalog.ts';
import { type Blob, blobOfValue, decodeBundle, decodeChannel } from '../../blobs/index.ts';
import { chainProblem, channelHeads, validateCatalog } from '../../validate/index.ts';
import { outlineOf } from '../catalog-outline.ts';
import {
  type CatalogSelection,
  type PackageSelection,
  pruneCatalog,
  readSelection,
  versionsBetween,
  versionsInRange,
} from '../index.ts';

interface WrittenEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
}

function channel(owner: string, name: string, entries: readonly WrittenEntry[]): Blob {
  return blobOfValue({ schema: 'olm.channel', package: owner, name, entries: entries as never });
}

function bundle(name: string, ...properties: JsonObject[]): Blob {
  const [owner = '', version = ''] = name.split('.v');
  return blobOfValue({
    schema: 'olm.bundle',
    package: owner,
    name,
    image: `quay.io/x/${owner}@sha256:${'0'.repeat(64)}`,
    properties: [{ type: 'olm.package', value: { packageName: owner, version } }, ...properties],
  });
}

function packageBlob(name: string, defaultChannel = 'stable'): Blob {
  return blobOfValue({ schema: 'olm.package', name, defaultChannel });
}

const chain = [
  { name: 'a.v1.3.0', replaces: 'a.v1.2.0' },
  { name: 'a.v1.2.0', replaces: 'a.v1.1.0' },
  { name: 'a.v1.1.0', replaces: 'a.v1.0.0' },
  { name: 'a.v1.0.0' },
];

const a: readonly Blob[] = [
  packageBlob('a'),
  channel('a', 'stable', chain),
  channel('a', 'fast', [{ name: 'a.v2.0.0', replaces: 'a.v1.3.0' }]),
  ...chain.map(({ name }) => bundle(name)),
  bundle('a.v2.0.0'),
];

function of(name: string, selection: PackageSelection): CatalogSelection {
  return { packages: new Map([[name, selection]]) };
}

const all: PackageSelection = { channels: { which: 'all', versions: 'all' } };
const heads: PackageSelection = { channels: { which: 'all', versions: 'head' } };

interface Pruned {
  readonly notes: readonly string[];
  readonly blobs: readonly Blob[];
  /** `channel: names` */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

async function pruned(blobs: readonly Blob[], selection: CatalogSelection): Promise<Pruned> {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const left = await collected(pruneCatalog(reading(blobs), selection, { note }));
  await validateCatalog(reading(left)());
  const entries = left
    .filter(({ schema }) => schema === 'olm.channel')
    .map((blob) => [
      `${blob.package}/${blob.name}`,
      decodeChannel(blob).entries.map(({ name }) => name),
    ]);
  return { notes, blobs: left, entries: Object.fromEntries(entries) };
}

describe('pruning keeps', () => {
  test('whole packages, and nothing of others', async () => {
    const b = [
      packageBlob('b'),
      channel('b', 'stable', [{ name: 'b.v1.0.0' }]),
      bundle('b.v1.0.0'),
    ];
    const { blobs, notes } = await pruned([...a, ...b], of('a', all));
    expect(blobs).toEqual(a);
    expect(notes).toEqual([]);
  });

  test('heads of channels, which still replace what is left out', async () => {
    const { blobs, entries } = await pruned(a, of('a', heads));
    expect(entries).toEqual({ 'a/stable': ['a.v1.3.0'], 'a/fast': ['a.v2.0.0'] });
    const stable = blobs.find(({ name }) => name === 'stable');
    expect(stable?.value).toMatchObject({ entries: [chain[0]] });
    expect(blobs.filter(({ schema }) => schema === 'olm.bundle')).toHaveLength(2);
  });

  test('versions between two, and those of a range with what upgrades pass through', async () => {
    const stable = (versions: PackageSelection['channels']) => of('a', { channels: versions });
    const between = versionsBetween('1.1.0', '1.2.0');
    expect((await pruned(a, stable([{ name: 'stable', versions: between }]))).entries).toEqual({
      'a/stable': ['a.v1.2.0', 'a.v1.1.0'],
    });
    const ends = versionsInRange('1.0.0 || 1.3.0');
    const { entries, notes } = await pruned(a, stable([{ name: 'stable', versions: ends }]));
    expect(entries).toEqual({ 'a/stable': chain.map(({ name }) => name) });
    expect(notes).toEqual([
      'package "a", channel "stable": kept a.v1.1.0, a.v1.2.0, which upgrades pass through',
    ]);
  });

  test('a default channel: its own, the one that is asked for, or that with the highest head', async () => {
    const defaultOf = ({ blobs }: Pruned) => blobs[0]?.value['defaultChannel'];
    const fast = [{ name: 'fast', versions: 'all' as const }];
    const changed = await pruned(a, of('a', { channels: fast }));
    expect(defaultOf(changed)).toBe('fast');
    expect(changed.notes).toEqual([
      'package "a": the default channel is now "fast", since "stable" is left out',
    ]);
    expect(defaultOf(await pruned(a, of('a', all)))).toBe('stable');
    const asked = await pruned(a, of('a', { ...all, defaultChannel: 'fast' }));
    expect(defaultOf(asked)).toBe('fast');
    await expect(pruned(a, of('a', { channels: fast, defaultChannel: 'stable' }))).rejects.toThrow(
      'package "a": default channel "stable" is not among the kept channels: fast',
    );
  });

  test('an entry beside the chain with what skips it, where the rest would have two heads', async () => {
    const blobs = [
      packageBlob('a'),
      channel('a', 'stable', [
        { name: 'a.v1.3.0', replaces: 'a.v1.2.0' },
        { name: 'a.v1.2.0', replaces: 'a.v1.1.0', skips: ['a.v1.1.1'] },
        { name: 'a.v1.1.1', replaces: 'a.v1.0.0' },
        { name: 'a.v1.1.0', replaces: 'a.v1.0.0' },
        { name: 'a.v1.0.0' },
      ]),
      ...['1.0.0', '1.1.0', '1.1.1', '1.2.0', '1.3.0'].map((version) => bundle(`a.v${version}`)),
    ];
    const versions = versionsInRange('>=1.1.0 <1.2.0');
    const { entries } = await pruned(blobs, of('a', { channels: { which: 'all', versions } }));
    expect(entries).toEqual({ 'a/stable': ['a.v1.2.0', 'a.v1.1.1', 'a.v1.1.0'] });
  });

  test('deprecations, blobs of other schemas and icons of what is kept', async () => {
    const deprecations = blobOfValue({
      schema: 'olm.deprecations',
      package: 'a',
      Entries: [
        { reference: { schema: 'olm.package' }, message: 'p' },
        { reference: { schema: 'olm.channel', name: 'fast' }, message: 'c' },
        { reference: { schema: 'olm.bundle', name: 'a.v1.0.0' }, message: 'b' },
        { reference: { schema: 'olm.bundle', name: 'a.v1.3.0' }, message: 'h' },
      ],
    });
    const custom = ['a', 'b', ''].map((owner) =>
      blobOfValue({ schema: 'custom', package: owner, __proto__: null }),
    );
    const channels = [{ name: 'stable', versions: 'head' as const }];
    const { blobs } = await pruned([...a, deprecations, ...custom], of('a', { channels }));
    const left = blobs.find(({ schema }) => schema === 'olm.deprecations')?.value['Entries'];
    expect(left).toMatchObject([{ message: 'p' }, { message: 'h' }]);
    const owners = blobs.filter(({ schema }) => schema === 'custom').map((blob) => blob.package);
    expect(owners).toEqual(['a', '']);
  });
});

describe('pruning keeps dependencies', () => {
  const needs = (type: string, value: JsonObject) => ({ type, value });
  const gvk = needs('olm.gvk', { group: 'g', version: 'v1', kind: 'K' });
  const b = [
    packageBlob('b'),
    channel('b', 'beta', [{ name: 'b.v3.0.0' }]),
    channel('b', 'stable', [{ name: 'b.v2.0.0', replaces: 'b.v1.0.0' }, { name: 'b.v1.0.0' }]),
    bundle('b.v3.0.0', gvk),
    bundle('b.v2.0.0', gvk),
    bundle('b.v1.0.0'),
  ];
  const on = async (...properties: JsonObject[]) => {
    const only = [packageBlob('a'), channel('a', 'stable', [{ name: 'a.v1.0.0' }])];
    return await pruned([...only, bundle('a.v1.0.0', ...properties), ...b], of('a', all));
  };

  it.each([
    [
      'olm.package.required',
      { packageName: 'b', versionRange: '>=1.0.0' },
      { 'b/stable': ['b.v2.0.0'] },
    ],
    [
      'olm.package.required',
      { packageName: 'b', versionRange: '<2.0.0' },
      { 'b/stable': ['b.v1.0.0'] },
    ],
    [
      'olm.package.required',
      { packageName: 'b', versionRange: '>2.0.0' },
      { 'b/beta': ['b.v3.0.0'] },
    ],
    ['olm.gvk.required', { group: 'g', version: 'v1', kind: 'K' }, { 'b/stable': ['b.v2.0.0'] }],
    [
      'olm.constraint',
      { Gvk: { Group: 'g', version: 'v1', kind: 'K' } },
      { 'b/stable': ['b.v2.0.0'] },
    ],
    [
      'olm.constraint',
      {
        all: {
          constraints: [
            { package: { packageName: 'b', versionRange: '>=1.0.0' } },
            { not: { constraints: [{ gvk: { group: 'g', version: 'v1', kind: 'K' } }] } },
          ],
        },
      },
      { 'b/stable': ['b.v1.0.0'] },
    ],
    ['olm.constraint', { cel: { rule: 'true' } }, { 'b/stable': ['b.v2.0.0'] }],
    ['olm.package.required', { packageName: 'b', versionRange: 'x' }, { 'b/stable': ['b.v2.0.0'] }],
    ['olm.constraint', { not: { constraints: [] } }, {}],
    ['olm.other', { packageName: 'b', versionRange: '>=1.0.0' }, {}],
  ])('%s %j', async (type, value, added) => {
    const { entries, notes } = await on(needs(type, value));
    expect(entries).toEqual({ 'a/stable': ['a.v1.0.0'], ...added });
    expect(notes.filter((text) => text.includes('kept b.'))).toHaveLength(
      Object.keys(added).length,
    );
  });

  it('that names its API, version or label in another case, as requirements may', async () => {
    const c = [
      packageBlob('c'),
      channel('c', 'stable', [{ name: 'c.v1.0.0' }]),
      blobOfValue({
        schema: 'olm.bundle',
        package: 'c',
        name: 'c.v1.0.0',
        image: `quay.io/x/c@sha256:${'0'.repeat(64)}`,
        properties: [
          { type: 'olm.package', value: { PackageName: 'c', Version: '1.0.0' } },
          { type: 'olm.gvk', value: { Group: 'c', VERSION: 'v1', Kind: 'C' } },
          { type: 'olm.label', value: { Label: 'certified' } },
        ],
      }),
    ];
    for (const needed of [
      needs('olm.gvk.required', { group: 'c', version: 'v1', kind: 'C' }),
      needs('olm.label.required', { label: 'certified' }),
      needs('olm.package.required', { packageName: 'c', versionRange: '>=1.0.0' }),
    ]) {
      const { entries, notes } = await pruned(
        [
          packageBlob('a'),
          channel('a', 'stable', [{ name: 'a.v1.0.0' }]),
          bundle('a.v1.0.0', needed),
          ...c,
        ],
        of('a', all),
      );
      expect(entries).toEqual({ 'a/stable': ['a.v1.0.0'], 'c/stable': ['c.v1.0.0'] });
      expect(notes).toEqual([expect.stringContaining('kept c.v1.0.0')]);
    }
  });

  it('and names what the catalog does not have', async () => {
    const { notes } = await on(
      needs('olm.package.required', { packageName: 'zz', versionRange: '>=1.0.0' }),
    );
    expect(notes).toEqual([
      'a.v1.0.0 requires package "zz" in range ">=1.0.0": the catalog has no bundle that meets this',
    ]);
  });

  it('unless asked not to', async () => {
    const blobs = [
      packageBlob('a'),
      channel('a', 'stable', [{ name: 'a.v1.0.0' }]),
      bundle(
        'a.v1.0.0',
        needs('olm.package.required', { packageName: 'b', versionRange: '>=1.0.0' }),
      ),
      ...b,
    ];
    const selection = { ...of('a', all), skipDependencies: true };
    expect((await pruned(blobs, selection)).entries).toEqual({ 'a/stable': ['a.v1.0.0'] });
  });
});

describe('a written selection', () => {
  const rest = { versions: 'all' as const, skipDependencies: false };
  const channels = (names: readonly string[]) => names.map((name) => ({ name, versions: 'all' }));

  it('has channels of all packages, and of one', () => {
    const written = { packages: ['a', 'b'], channels: ['stable', 'b=fast'], ...rest };
    const { packages, others } = readSelection(written);
    expect(packages.get('a')?.channels).toEqual(channels(['stable']));
    expect(packages.get('b')?.channels).toEqual(channels(['stable', 'fast']));
    expect(others).toBeUndefined();
  });

  it('selects of all packages where it names none, and refuses channels of others', () => {
    expect(readSelection({ packages: [], channels: [], ...rest }).others).toEqual(all);
    expect(() => readSelection({ packages: ['a'], channels: ['c=fast'], ...rest })).toThrow(
      'channel "c=fast" is of package "c", which is not selected: add --package c',
    );
  });
});

describe('what a catalog does not have is refused', () => {
  it.each([
    [of('zz', all), 'the catalog has no package "zz": it has a'],
    [
      of('a', { channels: [{ name: 'zz', versions: 'all' }] }),
      'package "a" has no channel "zz": it has fast, stable',
    ],
    [
      of('a', { channels: [{ name: 'fast', versions: versionsInRange('<2.0.0') }] }),
      'package "a", channel "fast" has no version in range "<2.0.0": it has a.v2.0.0',
    ],
    [
      of('a', { channels: { which: 'all', versions: versionsInRange('>9.0.0') } }),
      'package "a" has no version in range ">9.0.0": it has a.v2.0.0, a.v1.3.0',
    ],
    [
      { packages: new Map(), others: { channels: [{ name: 'zz', versions: 'all' as const }] } },
      'no package of the catalog has the selected channels and versions',
    ],
  ])('%#', async (selection, text) => {
    await expect(pruned(a, selection)).rejects.toThrow(text);
  });

  it('and so is a range that cannot be read', () => {
    expect(() => versionsInRange('^1.0.0')).toThrow(
      'versions "^1.0.0" are no range such as ">=1.2.0 <2.0.0": Could not parse Range "^1.0.0"',
    );
  });

  it('and a channel that is not valid, with what is wrong with it', async () => {
    const blobs = [
      ...a.slice(0, 1),
      channel('a', 'stable', [{ name: 'a.v1.3.0' }, { name: 'a.v1.2.0' }]),
      ...a.slice(3),
    ];
    await expect(pruned(blobs, of('a', all))).rejects.toThrow(
      'package "a", channel "stable": multiple channel heads found in graph: a.v1.2.0, a.v1.3.0',
    );
  });
});

const choices: readonly PackageSelection[] = [
  all,
  heads,
  { channels: { which: 'default', versions: 'head' } },
  ...['>=1.2.0 <1.5.0', '1.1.0 || 1.4.0 || 1.7.0', '<1.3.0', '!1.2.0 !1.4.0 !1.6.0'].map(
    (range): PackageSelection => ({ channels: { which: 'all', versions: versionsInRange(range) } }),
  ),
];

test('what is left of any valid catalog is valid, and has the dependencies of its bundles', {
  tags: ['slow'],
}, async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const blobs = randomCatalog(seed);
    const others = choices[seed % choices.length];
    const names = seed % 2 === 0 ? ['p0'] : [];
    const selection = { packages: new Map(names.map((name) => [name, all])), others };
    const left = await collected(pruneCatalog(reading(blobs), selection)).catch(nothingChosen);
    await expect(validateCatalog(reading(left)()), `seed ${seed}`).resolves.toBeDefined();
    await checkDependencies(blobs, left, seed);
  }
});

function nothingChosen(error: unknown): readonly Blob[] {
  expect(String(error)).toContain('no package of the catalog');
  return [];
}

/** Of each requirement that the catalog meets, something is left that does. */
async function checkDependencies(
  before: readonly Blob[],
  after: readonly Blob[],
  seed: number,
): Promise<void> {
  const bundlesOf = async (blobs: readonly Blob[]) =>
    [...(await outlineOf(reading(blobs)())).values()].flatMap(({ bundles }) => [
      ...bundles.values(),
    ]);
  const [all, left] = [await bundlesOf(before), await bundlesOf(after)];
  for (const { name, requires } of left) {
    for (const { verdict, text } of requires) {
      const isMet = (bundles: typeof all) => bundles.some((each) => verdict(each) === true);
      expect(isMet(left), `seed ${seed}: ${name} requires ${text}`).toBe(isMet(all));
    }
  }
}

test('a channel of 10,000 entries is pruned in a moment, and one that is a cycle refused', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `a.v1.${index}.0`);
  const entries = names.map((name, index) => ({ name, replaces: names[index - 1] ?? '' }));
  const blobs = [
    packageBlob('a'),
    channel('a', 'stable', entries),
    ...names.map((name) => bundle(name)),
  ];
  const versions = versionsInRange('1.10.0 || 1.9990.0');
  const left = await collected(
    pruneCatalog(reading(blobs), of('a', { channels: { which: 'all', versions } })),
  );
  const kept = decodeChannel(left[1] ?? packageBlob('a')).entries;
  expect(kept).toHaveLength(9981);
  expect(chainProblem(new Map(kept.map((entry) => [entry.name, entry])))).toBeUndefined();
  expect(channelHeads(new Map(kept.map((entry) => [entry.name, entry])))).toEqual(['a.v1.9990.0']);
  const cycle = [...entries.slice(1), { name: 'a.v1.0.0', replaces: 'a.v1.9998.0' }];
  const broken = [packageBlob('a'), channel('a', 'stable', cycle)];
  await expect(collected(pruneCatalog(reading(broken), of('a', heads)))).rejects.toThrow(
    'package "a", channel "stable": detected cycle in replaces chain',
  );
});

test('bundles that require each other one by one are kept in bounded time', async () => {
  const names = Array.from({ length: 800 }, (_, index) => `a.v1.${index}.0`);
  const entries = names.map((name, index) => ({ name, replaces: names[index + 1] ?? '' }));
  const next = (index: number) => ({
    type: 'olm.package.required',
    value: { packageName: 'a', versionRange: `1.${index + 2}.0` },
  });
  const bundles = names.map((name, index) => bundle(name, next(index)));
  const blobs = [packageBlob('a'), channel('a', 'stable', entries), ...bundles];
  const left = await collected(pruneCatalog(reading(blobs), of('a', heads)));
  expect(left.filter(({ schema }) => schema === 'olm.bundle').map(decodeBundle)).toHaveLength(800);
});

test('dependencies that are made to be slow are refused', { tags: ['slow'] }, async () => {
  const names = Array.from({ length: 3300 }, (_, index) => `v1.${index}.0`);
  const entries = (owner: string) =>
    names.map((name, index) => ({
      name: `${owner}.${name}`,
      replaces: index === 0 ? '' : `${owner}.${names[index - 1]}`,
    }));
  const requires = (index: number) => ({
    type: 'olm.package.required',
    value: { packageName: 'b', versionRange: `>9.${index}.0` },
  });
  const blobs = [
    ...['a', 'b'].flatMap((owner) => [
      packageBlob(owner),
      channel(owner, 'stable', entries(owner)),
    ]),
    ...names.map((name, index) => bundle(`a.${name}`, requires(index))),
    ...names.map((name) => bundle(`b.${name}`)),
  ];
  await expect(pruned(blobs, of('a', all))).rejects.toThrow(
    'the dependencies of the catalog need more than 10000000 comparisons: prune it without them',
  );
});

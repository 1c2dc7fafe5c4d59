import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../api/json.ts';
import { collected, randomCatalog, reading } from '../../../test/helpers/random-catalog.ts';
import { type Blob, blobOfValue, decodeChannel } from '../../blobs/index.ts';
import { loadDirectory } from '../../load/index.ts';
import { channelHeads } from '../../validate/index.ts';
import { type CatalogDiff, diffCatalogs, pruneCatalog, versionsInRange } from '../index.ts';

interface WrittenEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly skipRange?: string;
}

function packageBlob(name: string, fields: JsonObject = {}): Blob {
  return blobOfValue({ schema: 'olm.package', name, defaultChannel: 'stable', ...fields });
}

function channel(name: string, entries: readonly WrittenEntry[]): Blob {
  return blobOfValue({ schema: 'olm.channel', package: 'a', name, entries: entries as never });
}

function bundle(name: string, fields: JsonObject = {}, ...properties: JsonObject[]): Blob {
  const version = name.slice(name.indexOf('.v') + 2);
  const own = { type: 'olm.package', value: { packageName: 'a', version } };
  const image = `quay.io/x/a:${version}`;
  const rest = { image, properties: [own, ...properties], ...fields };
  return blobOfValue({ schema: 'olm.bundle', package: 'a', name, ...rest });
}

function deprecations(...entries: readonly (readonly [schema: string, message: string])[]): Blob {
  return blobOfValue({
    schema: 'olm.deprecations',
    package: 'a',
    entries: entries.map(([schema, message]) => ({ reference: { schema, name: 'n' }, message })),
  });
}

async function diff(before: readonly Blob[], after: readonly Blob[]): Promise<CatalogDiff> {
  return await diffCatalogs(reading(before)(), reading(after)());
}

const none: CatalogDiff = { packages: [], blobs: [], stranded: [] };

describe('a catalog and itself have no difference', () => {
  test('whatever the order of blobs, properties and skips', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const blobs = randomCatalog(seed);
      expect(await diff(blobs, blobs.toReversed())).toEqual(none);
    }
    const label = { type: 'olm.label', value: { label: 'l' } };
    const [a, b] = [bundle('a.v1.0.0', {}, label), bundle('a.v1.0.0')];
    const swapped = blobOfValue({
      ...a.value,
      properties: (a.value['properties'] as []).toReversed(),
    });
    expect(await diff([a], [swapped])).toEqual(none);
    expect((await diff([a], [b])).packages).toHaveLength(1);
  });

  test('also of real ones', { tags: ['slow'] }, async () => {
    const shared = join(import.meta.dirname, '../../../../shared/catalogs/packages');
    const names = (await readdir(shared)).filter((name) => name !== 'slurm-operator');
    for (const name of names) {
      const dir = join(shared, name);
      expect(await diffCatalogs(loadDirectory(dir), loadDirectory(dir))).toEqual(none);
    }
  });
});

describe('a difference has', () => {
  const change = (field: string, removed: readonly string[], added: readonly string[]) => ({
    field,
    removed,
    added,
  });

  test('packages that are there in one catalog alone, with their channels and bundles', async () => {
    const all = [packageBlob('a'), channel('stable', [{ name: 'a.v1.0.0' }]), bundle('a.v1.0.0')];
    const { packages } = await diff([packageBlob('b')], all);
    expect(packages).toMatchObject([
      {
        name: 'a',
        change: 'added',
        channels: [{ name: 'stable', change: 'added', entries: [{ name: 'a.v1.0.0' }] }],
        bundles: [{ name: 'a.v1.0.0', change: 'added' }],
      },
      { name: 'b', change: 'removed' },
    ]);
  });

  test('fields of packages, long ones as digests', async () => {
    const icon = { base64data: 'AAAA', mediatype: 'image/png' };
    const after = packageBlob('a', { defaultChannel: 'fast', description: 'x'.repeat(300), icon });
    const { packages } = await diff([packageBlob('a', { description: 'short' })], [after]);
    expect(packages[0]?.fields).toEqual([
      change('default channel', ['stable'], ['fast']),
      change('description', ['short'], [expect.stringMatching(/^sha256:/) as string]),
      change('icon', [], [expect.stringMatching(/^sha256:/) as string]),
    ]);
  });

  test('heads and edges of channels', async () => {
    const before = [
      { name: 'a.v1.1.0', replaces: 'a.v1.0.0', skips: ['x', 'y'] },
      { name: 'a.v1.0.0' },
    ];
    const after = [
      { name: 'a.v1.2.0', replaces: 'a.v1.1.0' },
      { name: 'a.v1.1.0', skips: ['y', 'z'], skipRange: '<1.1.0' },
      { name: 'a.v1.0.0' },
    ];
    const { packages } = await diff([channel('stable', before)], [channel('stable', after)]);
    expect(packages[0]?.channels).toEqual([
      {
        name: 'stable',
        change: 'changed',
        fields: [change('head', ['a.v1.1.0'], ['a.v1.0.0', 'a.v1.2.0'])],
        entries: [
          {
            name: 'a.v1.1.0',
            change: 'changed',
            fields: [
              change('replaces', ['a.v1.0.0'], []),
              change('skips', ['x'], ['z']),
              change('skipRange', [], ['<1.1.0']),
            ],
          },
          { name: 'a.v1.2.0', change: 'added', fields: [change('replaces', [], ['a.v1.1.0'])] },
        ],
      },
    ]);
  });

  test('fields of bundles, deprecations, and blobs of other schemas', async () => {
    const custom = (value: number, owner = 'a') =>
      blobOfValue({ schema: 'custom', package: owner, name: 'x', value });
    const label = { type: 'olm.label', value: { label: 'l' } };
    const before = [
      bundle('a.v1.0.0'),
      deprecations(['olm.channel', 'old']),
      custom(1),
      custom(1, ''),
    ];
    const after = [
      bundle(
        'a.v1.0.0',
        { image: 'quay.io/x/other', relatedImages: [{ name: '', image: 'i' }] },
        label,
      ),
      deprecations(['olm.bundle', 'new']),
      custom(2),
    ];
    const { packages, blobs } = await diff(before, after);
    expect(packages[0]?.bundles).toMatchObject([
      {
        name: 'a.v1.0.0',
        change: 'changed',
        fields: [
          { field: 'image', added: [] },
          { field: 'properties', added: ['olm.label {"label":"l"}'] },
          { field: 'related images' },
        ].map((each) => (each.field === 'image' ? { ...each, added: ['quay.io/x/other'] } : each)),
      },
    ]);
    expect(packages[0]?.deprecations).toMatchObject([
      { name: 'olm.bundle n', change: 'added', fields: [{ added: ['new'] }] },
      { name: 'olm.channel n', change: 'removed', fields: [{ removed: ['old'] }] },
    ]);
    expect(packages[0]?.blobs).toMatchObject([{ name: 'custom x', change: 'changed' }]);
    expect(blobs).toMatchObject([{ name: 'custom x', change: 'removed' }]);
  });
});

describe('stranded are bundles', () => {
  const names = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((version) => `a.v${version}`);
  const chain = names.map((name, index) => ({ name, replaces: names[index - 1] ?? '' }));
  const catalog = (entries: readonly WrittenEntry[], name = 'stable') => [
    packageBlob('a'),
    channel(name, entries),
    ...names.map((each) => bundle(each)),
  ];
  const stranded = async (entries: readonly WrittenEntry[], name?: string) =>
    (await diff(catalog(chain), catalog(entries, name))).stranded;

  test('below a step that is gone, which is named', async () => {
    const last = { from: 'a.v1.1.0', to: 'a.v1.2.0' };
    const at = { package: 'a', channel: 'stable', reason: 'upgrade removed', lastStep: last };
    expect(
      await stranded(
        chain
          .slice(2)
          .map(({ name }, index) => (index === 0 ? { name } : { name, replaces: 'a.v1.2.0' })),
      ),
    ).toEqual([
      { ...at, bundle: 'a.v1.0.0', version: '1.0.0' },
      { ...at, bundle: 'a.v1.1.0', version: '1.1.0' },
    ]);
  });

  test('of channels and packages that are gone', async () => {
    const gone = await stranded(chain, 'other');
    expect(gone.map(({ bundle: name, reason }) => [name, reason])).toEqual(
      names.map((name) => [name, 'channel removed']),
    );
    expect((await diff(catalog(chain), [])).stranded[0]).toMatchObject({
      reason: 'package removed',
    });
  });

  test('that a new head does not lead on from', async () => {
    expect((await stranded([{ name: 'a.v9.0.0' }])).map(({ lastStep }) => lastStep)).toEqual(
      names.map(() => ({ from: 'a.v1.3.0' })),
    );
  });

  it.each<[string, WrittenEntry]>([
    ['replaces', { name: 'a.v9.0.0', replaces: 'a.v1.3.0', skips: names }],
    ['skips', { name: 'a.v9.0.0', skips: names }],
    ['skipRange', { name: 'a.v9.0.0', skipRange: '<9.0.0' }],
  ])(
    'and not those that an entry upgrades by %s, also from outside of the channel',
    async (_, entry) => {
      expect(await stranded([entry])).toEqual([]);
    },
  );

  test('as a search of all paths finds them', { tags: ['slow'] }, async () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const before = randomCatalog(seed);
      const versions = versionsInRange(`>=1.${seed % 7}.0 !1.${seed % 5}.0`);
      const others = { channels: { which: 'all' as const, versions } };
      const pruning = pruneCatalog(reading(before), { packages: new Map(), others });
      const after = await collected(pruning).catch(() => []);
      const found = (await diff(before, after)).stranded.map(
        (each) => `${each.package}/${each.channel}/${each.bundle}`,
      );
      expect(found.toSorted(), `seed ${seed}`).toEqual(searched(before, after).toSorted());
    }
  });
});

/** Stranded bundles by walking up from each. */
function searched(before: readonly Blob[], after: readonly Blob[]): readonly string[] {
  const channelsOf = (blobs: readonly Blob[]) =>
    blobs.filter(({ schema }) => schema === 'olm.channel').map(decodeChannel);
  return channelsOf(before).flatMap((old) => {
    const now = channelsOf(after).find(
      (each) => each.package === old.package && each.name === old.name,
    );
    return old.entries
      .map(({ name }) => name)
      .filter((name) => hasPath(old.entries, name) && !hasPath(now?.entries ?? [], name))
      .map((name) => `${old.package}/${old.name}/${name}`);
  });
}

function hasPath(entries: ReturnType<typeof decodeChannel>['entries'], from: string): boolean {
  const heads = new Set(channelHeads(new Map(entries.map((entry) => [entry.name, entry]))));
  const seen = new Set([from]);
  for (const name of seen) {
    if (heads.has(name)) return true;
    for (const entry of entries) {
      if (entry.replaces === name || entry.skips.includes(name)) seen.add(entry.name);
    }
  }
  return false;
}

test('channels of 20,000 entries, and cycles of as many, are compared in a moment', {
  tags: ['slow'],
}, async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `a.v1.${index}.0`);
  const entries = names.map((name, index) => ({ name, replaces: names[index - 1] ?? '' }));
  const cut = [{ name: 'a.v1.15000.0' }, ...entries.slice(15_001)];
  const { stranded } = await diff([channel('stable', entries)], [channel('stable', cut)]);
  expect(stranded).toHaveLength(15_000);
  expect(stranded[0]?.lastStep).toEqual({ from: 'a.v1.14999.0', to: 'a.v1.15000.0' });
  const cycle = [...entries.slice(1), { name: 'a.v1.0.0', replaces: 'a.v1.19999.0' }];
  const lost = await diff([channel('stable', entries)], [channel('stable', cycle)]);
  expect(lost.stranded).toHaveLength(20_000);
  expect(lost.stranded[0]).toMatchObject({ reason: 'channel invalid', lastStep: undefined });
});

test('skipRanges that are made to be slow are refused', { tags: ['slow'] }, async () => {
  const names = Array.from({ length: 1700 }, (_, index) => `a.v1.${index}.0`);
  const entries = names.map((name, index) => ({
    name,
    replaces: names[index - 1] ?? '',
    skipRange: '<0.0.1 || >9.0.0',
  }));
  const blobs = [channel('stable', entries), ...names.map((name) => bundle(name))];
  const ranges = [...blobs, ...names.map((name) => bundle(`b${name}`))];
  await expect(diff(ranges, [])).rejects.toThrow(
    'the channel with head "a.v1.1699.0" needs more than 4000000 comparisons of versions with skipRanges',
  );
});

test('a channel that is there twice is refused', async () => {
  const twice = [channel('stable', []), channel('stable', [])];
  await expect(diff(twice, [])).rejects.toThrow('channel "stable" is there twice');
});

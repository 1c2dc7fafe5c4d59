import { describe, expect, it, test } from 'vitest';
import {
  bundlePart,
  channelPart,
  deprecationPart,
  packagePart,
} from '../../test/helpers/catalog-parts.ts';
import { oddGraphs } from '../../test/helpers/odd-graphs.ts';
import { blobOfValue, type CatalogConfig } from '../blobs/index.ts';
import { toConfig } from '../load/index.ts';
import {
  drawHtml,
  drawSvg,
  drawText,
  type PackageGraph,
  packageGraph,
  titleOf,
  upgradeGraph,
} from './index.ts';

const catalog = [
  packagePart('stable'),
  channelPart('alpha', [
    { name: 'p.v1' },
    { name: 'p.v3', replaces: 'p.v0', skipRange: '<1.0.0' },
    { name: 'p.gone' },
  ]),
  channelPart('stable', [
    { name: 'p.v1' },
    { name: 'p.v2', replaces: 'p.v1' },
    { name: 'p.v4', replaces: 'p.v2', skips: ['p.v3', 'p.rc'] },
    { name: 'p.rc' },
    { name: 'p.v3', replaces: 'p.v2' },
  ]),
  bundlePart('p.v1', '1.0.0'),
  bundlePart('p.v2', '2.0.0'),
  bundlePart('p.v3', '3.0.0'),
  bundlePart('p.v4', '4.0.0'),
  bundlePart('p.rc', '3.0.0-rc.1'),
  deprecationPart('olm.bundle p.v1', 'olm.channel alpha', 'olm.package '),
];

async function graphOf(
  parts: readonly CatalogConfig[],
  ...channels: readonly string[]
): Promise<PackageGraph> {
  return packageGraph(await upgradeGraph(parts), 'p', channels);
}

function textOf(graph: PackageGraph): string {
  const { lines, legend } = drawText(graph);
  const rows = lines.map(({ lanes, name, details }) => `${lanes}${name}  ${details}`.trimEnd());
  return [titleOf(graph), ...rows, legend].join('\n');
}

describe('the graph of a package', () => {
  it('has bundles by version, the default channel first, and how each entry is reached', async () => {
    const { bundles, channels } = await graphOf(catalog);
    expect(bundles.map(({ name, version }) => `${name} ${version}`)).toEqual([
      'p.v4 4.0.0',
      'p.v3 3.0.0',
      'p.rc 3.0.0-rc.1',
      'p.v2 2.0.0',
      'p.v1 1.0.0',
      'p.gone undefined',
    ]);
    expect(channels.map(({ name }) => name)).toEqual(['stable', 'alpha']);
    const reach = channels[0]?.entries.map((entry) => [entry.name, entry.reach]);
    expect(Object.fromEntries(reach ?? [])).toEqual({
      'p.v1': 'path',
      'p.v2': 'path',
      'p.v3': 'skipped',
      'p.v4': 'head',
      'p.rc': 'skipped',
    });
    expect(channels[1]?.problem).toMatch(/^multiple channel heads found in graph: p.gone, p.v1/);
  });

  it('is drawn in characters', async () => {
    expect(textOf(await graphOf(catalog))).toBe(`p: 2 channels, 6 bundles; deprecated: No more p
stable  default channel; 5 bundles
| alpha  deprecated: No more alpha; 3 bundles; broken: multiple channel heads found in graph: p.gone, p.v1, p.v3
* | p.v4  version 4.0.0; replaces p.v2, skips p.v3 p.rc
. * p.v3  version 3.0.0; in stable replaces p.v2; in alpha replaces p.v0, skips versions <1.0.0
.   p.rc  version 3.0.0-rc.1
o   p.v2  version 2.0.0; replaces p.v1
o * p.v1  deprecated: No more p.v1; version 1.0.0
  * p.gone  not in the catalog
* head   o reached by replaces   . skipped   | replaces`);
  });

  it('can be one of some channels', async () => {
    const { channels, bundles } = await graphOf(catalog, 'stable');
    expect(channels.map(({ name }) => name)).toEqual(['stable']);
    expect(bundles).toHaveLength(5);
  });

  it('shows what passes a row, dotted where bundles are only skipped', async () => {
    const other = channelPart('other', [{ name: 'p.v3' }]);
    const skipping = channelPart('stable', [{ name: 'p.v4', skips: ['p.v1'] }, { name: 'p.v1' }]);
    const text = textOf(await graphOf([...catalog.slice(0, 1), skipping, other]));
    expect(text).toContain('\n: * p.v3  not in the catalog\n');
  });

  it('shows cycles as stranded', async () => {
    const cycle = channelPart('stable', [
      { name: 'p.v1', replaces: 'p.v2' },
      { name: 'p.v2', replaces: 'p.v1' },
    ]);
    const text = textOf(await graphOf([packagePart('stable'), cycle]));
    expect(text).toContain('broken: no channel head found in graph\n! p.v2');
  });

  it('names what there is where nothing has the name', async () => {
    const graph = await upgradeGraph(catalog);
    expect(() => packageGraph(graph, 'zz')).toThrow('package "zz" not found: the catalog has p');
    expect(() => packageGraph(graph, 'p', ['x'])).toThrow(
      'package "p" has no channel "x": its channels are alpha, stable',
    );
  });
});

const drawings = {
  svg: drawSvg,
  html: drawHtml,
} satisfies Record<string, (graph: PackageGraph) => Iterable<string>>;

describe.each(Object.entries(drawings))('%s', (_name, draw) => {
  const textWith = async (parts: readonly CatalogConfig[]): Promise<string> =>
    [...draw(await graphOf(parts))].join('');

  it('says in words what it draws', async () => {
    const text = await textWith(catalog);
    expect(text).toContain(
      '<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" aria-labelledby="graph-title graph-description"',
    );
    expect(text).toContain('<title id="graph-title">Upgrade graph of p: 2 channels, 6 bundles');
    expect(text).toContain('Channel stable, the default channel: 5 bundles, head p.v4.');
    expect(text).toContain('<tspan class="name deprecated">p.v1</tspan>');
    expect(text).toContain('class="skips"');
  });

  it('lets no name become markup, or hide', async () => {
    const hostile = [
      '"><script>alert(1)</script>',
      "' onload='alert(1)",
      '</style></svg><img src=x onerror=alert(1)>',
      ']]>\u0000\u001b[31m\ud800',
      'gpj.\u202eexe',
      '&lt;b&gt;',
    ];
    const entries = hostile.map((name) => ({
      name,
      replaces: name,
      skips: [name],
      skipRange: name,
    }));
    const text = await textWith([
      packagePart(hostile[0] ?? ''),
      ...hostile.map((name) => channelPart(name, entries)),
      ...hostile.map((name) => bundlePart(name, '1.0.0')),
      {
        ...deprecationPart(),
        deprecations: [
          {
            schema: 'olm.deprecations',
            package: 'p',
            entries: hostile.map((name) => ({
              reference: { schema: 'olm.bundle', name },
              message: name,
            })),
          },
        ],
      },
    ]);
    expect(elementsOf(text)).toEqual(elementsOf(await textWith(catalog)));
    const forbidden = ['\u0000', '\u001b', '\u202e'].filter((each) => text.includes(each));
    expect(forbidden).toEqual([]);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain('gpj.\\u202eexe');
  });

  it('draws a cycle and a chain of 20,000 entries', { tags: ['slow'] }, async () => {
    let length = 0;
    for (const chunk of draw(await chainAndCycle(20_000))) length += chunk.length;
    expect(length).toBeGreaterThan(2_000_000);
  });
});

test('a cycle and a chain of 100,000 entries are drawn in characters', {
  tags: ['slow'],
}, async () => {
  expect(drawText(await chainAndCycle(100_000)).lines).toHaveLength(100_002);
});

async function chainAndCycle(size: number): Promise<PackageGraph> {
  const names = Array.from({ length: size }, (_, index) => `p.v${index}`);
  const chain = names.map((name, index) => ({ name, replaces: names[index - 1] ?? '' }));
  const cycle = chain.map((entry) => ({ ...entry, replaces: entry.replaces || `p.v${size - 1}` }));
  return await graphOf([
    packagePart('stable'),
    channelPart('stable', chain),
    channelPart('cycle', cycle),
  ]);
}

/** Names of elements and their attributes; throws where tags are not closed in their order. */
function elementsOf(text: string): readonly string[] {
  const open: string[] = [];
  const found = new Set<string>();
  const body = text.replace(/<style>[^<]*<\/style>/g, '').replace(/^<[?!][^>]*>/gm, '');
  for (const [tag, slash, name = '', attributes = ''] of body.matchAll(
    /<(\/?)([a-z1-9]+)((?: [a-zA-Z:-]+="[^"<>]*")*)\/?>/g,
  )) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else if (!tag.endsWith('/>') && name !== 'meta') open.push(name);
    found.add(`${name}${attributes.replace(/="[^"]*"/g, '')}`);
  }
  expect(open).toEqual([]);
  expect(body.replace(/<\/?[a-z1-9]+(?: [a-zA-Z:-]+="[^"<>]*")*\/?>/g, '')).not.toMatch(/[<>]/);
  return [...found].toSorted();
}

test('odd graphs are drawn like others', { tags: ['slow'] }, async () => {
  const usual = new Set(elementsOf([...drawHtml(await graphOf(catalog))].join('')));
  for (const { seed, blobs } of oddGraphs(60)) {
    const graph = await upgradeGraph([await toConfig(blobs.map((blob) => blobOfValue(blob)))]);
    for (const { name } of graph.packages) {
      const drawn = packageGraph(graph, name);
      const { lines } = drawText(drawn);
      const widths = new Set(lines.slice(drawn.channels.length).map(({ lanes }) => lanes.length));
      expect([...widths], `seed ${seed}`).toEqual(
        drawn.bundles.length === 0 ? [] : [2 * drawn.channels.length],
      );
      const elements = elementsOf([...drawHtml(drawn)].join(''));
      const odd = elements.filter((each) => !usual.has(each));
      expect(odd, `seed ${seed}`).toEqual([]);
    }
  }
});

test('a name that is longer than a drawing shows is cut', async () => {
  const long = 'x'.repeat(1_000_000);
  const parts = [packagePart('stable'), channelPart('stable', [{ name: long, replaces: long }])];
  const svg = [...drawSvg(await graphOf(parts))].join('');
  expect(svg.length).toBeLessThan(100_000);
});

import { describe, expect, it, test } from 'vitest';
import type { CatalogConfig, ChannelEntry } from '../blobs/index.ts';
import { drawMermaid, type MermaidOptions, upgradeGraph } from './index.ts';

const none: CatalogConfig = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
};

function channel(name: string, entries: readonly Partial<ChannelEntry>[]): CatalogConfig {
  const whole = entries.map((each) => ({
    name: '',
    replaces: '',
    skips: [],
    skipRange: '',
    ...each,
  }));
  const added = { schema: 'olm.channel', package: 'p', name, entries: whole, properties: [] };
  return { ...none, channels: [added as CatalogConfig['channels'][number]] };
}

function bundle(name: string, version: string): CatalogConfig {
  const properties = [{ type: 'olm.package', value: { packageName: 'p', version } }];
  const added = { name, package: 'p', image: '', properties, relatedImages: [] };
  return { ...none, bundles: [{ schema: 'olm.bundle', ...added }] };
}

const deprecated: CatalogConfig = {
  ...none,
  deprecations: [
    {
      schema: 'olm.deprecations',
      package: 'p',
      entries: [
        { reference: { schema: 'olm.bundle', name: 'p.v1' }, message: 'old' },
        { reference: { schema: 'olm.channel', name: 'beta' }, message: 'old' },
      ],
    },
  ],
};

const catalog = [
  channel('stable', [
    { name: 'p.v2', replaces: 'p.v1' },
    { name: 'p.v3', replaces: 'p.v2', skips: ['p.v1'], skipRange: '<1.0.0' },
    { name: 'p.v1' },
  ]),
  channel('beta', [{ name: 'p.v3', skipRange: 'x' }]),
  bundle('p.v1', '0.1.0'),
  bundle('p.v2', '2.0.0'),
  bundle('p.v3', '3.0.0'),
  deprecated,
];

async function drawn(parts: readonly CatalogConfig[], options?: MermaidOptions): Promise<string> {
  return [...drawMermaid(await upgradeGraph(parts), options)].join('');
}

describe('mermaid', () => {
  it('is what opm writes', async () => {
    expect(await drawn(catalog, { drawV0Semantics: true })).toBe(`graph LR
  classDef deprecated fill:#E8960F
  classDef skipped stroke:#FF0000,stroke-width:4px
  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px
  %% package "p"
  subgraph "p"
    %% channel "beta"
    subgraph p-beta["beta"]
      p-beta-p.v3["p.v3"]
    end
    %% channel "stable"
    subgraph p-stable["stable"]
      p-stable-p.v3["p.v3"]
      p-stable-p.v1["p.v1"]-- skip --> p-stable-p.v3["p.v3"]
      p-stable-p.v1["p.v1"]-- "skipRange(<1.0.0)" --> p-stable-p.v3["p.v3"]
      p-stable-p.v2["p.v2"]-- replace --> p-stable-p.v3["p.v3"]
      p-stable-p.v2["p.v2"]
      p-stable-p.v1["p.v1"]-- replace --> p-stable-p.v2["p.v2"]
      p-stable-p.v1["p.v1"]
    end
  end
style p-beta fill:#DCD0FF
class p-stable-p.v1 deprecatedskipped
`);
  });

  it('leaves out what is below the minimum edge', async () => {
    const text = await drawn(catalog, { minimumEdge: 'p.v2' });
    expect(text).toContain('p-stable-p.v2["p.v2"]-- replace --> p-stable-p.v3["p.v3"]\n');
    expect(text).not.toContain('p.v1["p.v1"]');
  });

  it('warns of a range that is none', async () => {
    const warnings: string[] = [];
    await drawn(catalog, { warn: (text) => warnings.push(text) });
    expect(warnings).toEqual([
      expect.stringMatching(/^ignoring invalid SkipRange for package\/edge "p"\/"p.v3": /),
    ]);
  });

  test.each([
    [bundle('p.v1', 'v1'), {}, /^bundle "p.v1" has invalid version "v1": No Major/],
    [
      { ...none, bundles: bundle('a', '1.0.0').bundles.map((b) => ({ ...b, properties: [] })) },
      {},
      /^bundle "a" has multiple "olm.package" properties/,
    ],
    [none, { minimumEdge: 'zz' }, /^unknown minimum edge name: "zz"$/],
  ])('refuses %#', async (part, options, message) => {
    await expect(drawn([part], options)).rejects.toThrow(message);
  });

  it('draws a cycle of 100,000 entries', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `p.v${index}`);
    const entries = names.map((name, index) => ({
      name,
      replaces: names[index - 1] ?? 'p.v99999',
    }));
    const text = await drawn([channel('stable', entries)]);
    expect(text.match(/-- replace -->/g)).toHaveLength(100_000);
  });

  it('refuses more edges than anybody draws', async () => {
    const skips = Array.from({ length: 600_000 }, () => 'p.v0');
    const entries = [
      { name: 'p.v1', skips },
      { name: 'p.v2', skips },
    ];
    await expect(drawn([channel('stable', entries)])).rejects.toThrow(
      'the graph has more than 1000000 edges: choose a package, or a minimum edge',
    );
  });
});

import { describe, expect, it, test } from 'vitest';
import {
  bundlePart,
  channelPart,
  deprecationPart,
  packagePart,
} from '../../test/helpers/catalog-parts.ts';
import type { CatalogConfig } from '../blobs/index.ts';
import { drawMermaid, type MermaidOptions, upgradeGraph } from './index.ts';

const deprecated = deprecationPart('olm.bundle p.v1', 'olm.channel beta');

const catalog = [
  channelPart('stable', [
    { name: 'p.v2', replaces: 'p.v1' },
    { name: 'p.v3', replaces: 'p.v2', skips: ['p.v1'], skipRange: '<1.0.0' },
    { name: 'p.v1' },
  ]),
  channelPart('beta', [{ name: 'p.v3', skipRange: 'x' }]),
  bundlePart('p.v1', '0.1.0'),
  bundlePart('p.v2', '2.0.0'),
  bundlePart('p.v3', '3.0.0'),
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
    [bundlePart('p.v1', 'v1'), {}, /^bundle "p.v1" has invalid version "v1": No Major/],
    [
      {
        ...packagePart(''),
        bundles: bundlePart('a', '').bundles.map((each) => ({ ...each, properties: [] })),
      },
      {},
      /^bundle "a" has multiple "olm.package" properties/,
    ],
    [packagePart(''), { minimumEdge: 'zz' }, /^unknown minimum edge name: "zz"$/],
  ])('refuses %#', async (part, options, message) => {
    await expect(drawn([part], options)).rejects.toThrow(message);
  });

  it('draws a cycle of 100,000 entries', { tags: ['slow'] }, async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `p.v${index}`);
    const entries = names.map((name, index) => ({
      name,
      replaces: names[index - 1] ?? 'p.v99999',
    }));
    const text = await drawn([channelPart('stable', entries)]);
    expect(text.match(/-- replace -->/g)).toHaveLength(100_000);
  });

  it('refuses more edges than anybody draws', { tags: ['slow'] }, async () => {
    const skips = Array.from({ length: 600_000 }, () => 'p.v0');
    const entries = [
      { name: 'p.v1', skips },
      { name: 'p.v2', skips },
    ];
    await expect(drawn([channelPart('stable', entries)])).rejects.toThrow(
      'the graph has more than 1000000 edges: choose a package, or a minimum edge',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { anEntry, aPackage } from '../../test/helpers/package-contents.ts';
import { Budget } from '../budget.ts';
import { parseVersion } from '../versions/index.ts';
import { type PathRequest, pathTo } from './index.ts';

const content = aPackage({
  bundles: ['0.9.0', '1.0.0', '1.1.0', '1.2.0', '2.0.0', '2.1.0'],
  channels: {
    stable: [
      '1.0.0',
      anEntry('p', '1.1.0', { replaces: '1.0.0' }),
      anEntry('p', '1.2.0', { replaces: '1.1.0' }),
    ],
    beta: [anEntry('p', '2.0.0', { replaces: '1.2.0', skipRange: '>=1.1.0 <2.0.0' })],
    odd: [
      anEntry('p', '2.1.0', { replaces: '2.1.0' }),
      anEntry('p', '3.0.0', { replaces: '1.0.0' }),
    ],
  },
});

function path(wish: Partial<PathRequest>, budget?: Budget): unknown {
  const from = { name: 'p.v1.0.0', version: parseVersion('1.0.0') };
  const base = { packageName: 'p', contents: [content], from, upgrades: 'graph' } as const;
  const found = pathTo({ ...base, to: '2.0.0', ...wish }, budget);
  if (found.kind === 'none') return [found.reason, found.nearest?.version];
  return found.steps.map(({ version, channel = '', edge = '' }) => `${version} ${channel} ${edge}`);
}

describe('a path of upgrades', () => {
  it.each<[Partial<PathRequest>, unknown]>([
    [{}, ['1.1.0 stable replaces', '2.0.0 beta skipRange']],
    [
      { upgrades: 'replaces' },
      ['1.1.0 stable replaces', '1.2.0 stable replaces', '2.0.0 beta replaces'],
    ],
    [{ to: 'v1.2' }, ['1.1.0 stable replaces', '1.2.0 stable replaces']],
    [{ to: '1.2.0', upgrades: 'semver' }, ['1.2.0  ']],
    [{ to: '0.9.0', upgrades: 'any' }, ['0.9.0  ']],
    [{ to: '1.0.0' }, []],
  ])('%j', (wish, expected) => {
    expect(path(wish)).toEqual(expected);
  });

  it.each<[Partial<PathRequest>, string, string | undefined]>([
    [{ upgrades: 'semver' }, 'Version 2.0.0 is a breaking change from 1.0.0.', '1.2.0'],
    [{ to: '2.1.0' }, 'No chain of upgrades leads from 1.0.0 to version 2.1.0.', '2.0.0'],
    [{ to: '0.9.0' }, 'Version 0.9.0 is a downgrade from 1.0.0.', undefined],
    [{ to: '3.0.0' }, 'No available catalog has version 3.0.0 of package "p".', '2.0.0'],
    [{ to: 'red' }, '"red" is not a version: No Major.Minor.Patch elements found.', undefined],
  ])('%j is none', (wish, reason, nearest) => {
    expect(path(wish)).toEqual([reason, nearest]);
  });

  describe('by version numbers, to a prerelease', () => {
    const contents = [aPackage({ bundles: ['1.2.0', '1.3.0-rc.1', '2.0.0-rc.1'] })];
    const from = { name: 'p.v1.2.0', version: parseVersion('1.2.0') };

    it.each([
      [
        '1.3.0-rc.1',
        'Version 1.3.0-rc.1 is a prerelease, and upgrades from 1.2.0 lead to releases only.',
      ],
      ['2.0.0-rc.1', 'Version 2.0.0-rc.1 is a breaking change from 1.2.0.'],
    ])('%s is none', (to, reason) => {
      expect(path({ contents, from, to, upgrades: 'semver' })).toEqual([reason, undefined]);
    });
  });

  describe('between builds of one version', () => {
    const contents = [aPackage({ bundles: ['1.2.0+1', '1.2.0+2', '1.2.0+3'] })];
    const from = { name: 'p.v1.2.0+1', version: parseVersion('1.2.0+1') };

    it.each<[Partial<PathRequest>, readonly string[]]>([
      [{ to: '1.2.0+2' }, ['1.2.0+2 stable replaces']],
      [{ to: '1.2.0+1' }, []],
      [{ to: '1.2.0' }, []],
      [{ to: '1.2.0', bundle: 'p.v1.2.0+2' }, ['1.2.0+2 stable replaces']],
      [{ to: '1.2.0', bundle: 'p.v1.2.0+1' }, []],
    ])('%j', (wish, steps) => {
      expect(path({ contents, from, ...wish })).toEqual(steps);
    });
  });

  it('of 100,000 steps is found', { tags: ['slow'] }, () => {
    const versions = Array.from({ length: 100_000 }, (_, index) => `1.${index}.0`);
    const steps = path({ contents: [aPackage({ bundles: versions })], to: '1.99999.0' });
    expect(steps).toHaveLength(99_999);
  });

  it('through too many skipRanges is refused with one sentence', () => {
    const versions = Array.from({ length: 1000 }, (_, index) => `1.${index}.0`);
    const chain = versions.map((version, index) =>
      anEntry('p', version, { replaces: versions[index - 1] ?? '0.0.0', skipRange: '<0.0.1' }),
    );
    const contents = [aPackage({ bundles: versions, channels: { stable: chain } })];
    expect(path({ contents, to: '1.999.0' }, new Budget({ steps: 1_000_000 }))).toEqual([
      'Finding upgrades from "p.v1.0.0" takes more than 1000000 steps: ask the authors of its catalogs for fewer channel entries with a skipRange.',
      undefined,
    ]);
  });
});

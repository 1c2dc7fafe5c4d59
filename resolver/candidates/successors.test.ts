import { describe, expect, it } from 'vitest';
import { parseVersion } from '../versions/index.ts';
import { type ChannelEntry, graphSuccessors, semverSuccessors, upgradeSteps } from './index.ts';

function entry(name: string, edges: Partial<ChannelEntry> = {}): ChannelEntry {
  return { name, skips: [], ...edges };
}

describe('upgrades by the graph', () => {
  const channels = [
    {
      name: 'stable',
      entries: [
        entry('p.v1.1.0', { replaces: 'p.v1.0.0' }),
        entry('p.v1.2.0', { replaces: 'p.v1.1.0', skips: ['p.v1.0.0'] }),
        entry('p.v1.3.0', { skipRange: '>=1.0.0-0 <1.3.0' }),
        entry('p.v1.4.0', { skipRange: '^1.0.0' }),
      ],
    },
    { name: 'beta', entries: [entry('p.v1.2.0', { replaces: 'p.v1.0.0' })] },
  ];
  const from = { name: 'p.v1.0.0', version: parseVersion('1.0.0') };

  it('follow replaces, skips and skipRange, and ignore an invalid range', () => {
    expect([...graphSuccessors(channels, from)]).toEqual([
      ['p.v1.1.0', 'replaces'],
      ['p.v1.2.0', 'skips'],
      ['p.v1.3.0', 'skipRange'],
    ]);
  });

  it('can follow replaces alone, in any channel', () => {
    expect([...graphSuccessors(channels, from, 'replaces').keys()]).toEqual([
      'p.v1.1.0',
      'p.v1.2.0',
    ]);
  });

  it('of a bundle without a version have no skipRange', () => {
    const unknown = { name: 'p.v1.2.0', version: undefined };
    expect([...graphSuccessors(channels, unknown)]).toEqual([]);
  });
});

describe('upgrades by version', () => {
  it.each([
    ['1.2.3', ['1.2.4', '1.10.0'], ['1.2.3', '1.2.3+b', '1.2.2', '2.0.0', '1.3.0-rc.1']],
    ['0.2.3', ['0.2.4'], ['0.3.0', '1.0.0', '0.2.3']],
    ['0.0.3', [], ['0.0.4', '0.1.0']],
    ['1.0.0-rc.1', ['1.0.0-rc.2', '1.0.0', '1.1.0-alpha'], ['1.0.0-alpha', '2.0.0-rc.1']],
    ['1.2.3+7', ['1.2.4'], ['1.2.3+8']],
  ])('from %s', (from, successors, others) => {
    const isSuccessor = semverSuccessors(parseVersion(from));
    const isUpgrade = (text: string) => isSuccessor(parseVersion(text));
    expect(successors.filter((each) => !isUpgrade(each))).toEqual([]);
    expect(others.filter(isUpgrade)).toEqual([]);
  });
});

describe('the steps to a bundle', () => {
  const versions = new Map(
    ['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((text) => [`p.v${text}`, parseVersion(text)]),
  );

  it('are the fewest, across channels, and through bundles that the channels lack', () => {
    const entries = [
      entry('p.v1.3.0', { replaces: 'p.v1.2.0' }),
      entry('p.v1.2.0', { replaces: 'p.v1.1.0' }),
      entry('p.v1.2.0', { skipRange: '<1.1.0' }),
      entry('p.v1.1.0', { replaces: 'p.v1.0.0' }),
    ];
    expect([...upgradeSteps('p.v1.3.0', entries, versions)]).toEqual([
      ['p.v1.3.0', undefined],
      ['p.v1.2.0', 'p.v1.3.0'],
      ['p.v1.1.0', 'p.v1.2.0'],
      ['p.v1.0.0', 'p.v1.2.0'],
    ]);
  });

  it('end in a cycle', () => {
    const entries = [
      entry('p.v1.0.0', { replaces: 'p.v1.1.0' }),
      entry('p.v1.1.0', { replaces: 'p.v1.0.0' }),
    ];
    expect([...upgradeSteps('p.v1.1.0', entries, versions).keys()]).toEqual([
      'p.v1.1.0',
      'p.v1.0.0',
    ]);
  });
});

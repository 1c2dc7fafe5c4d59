import { expect, test } from 'vitest';
import { bundlePart, channelPart, packagePart } from '../../test/helpers/catalog-parts.ts';
import { CollectedGraph, listedBundles, listedChannels, listedPackages } from './index.ts';

const graph = new CollectedGraph();
for (const part of [
  packagePart('stable'),
  channelPart('stable', [{ name: 'p.v2', replaces: 'p.v1' }, { name: 'p.v1' }]),
  channelPart('broken', [{ name: 'p.v1' }, { name: 'p.v2' }]),
  bundlePart('p.v1', '1.0.0'),
  bundlePart('p.v2', '2.0.0'),
]) {
  graph.add(part, ({ name }) => `Operator ${name}`);
}

test('packages have the name of the head of their default channel', () => {
  expect(listedPackages(graph)).toEqual([
    { name: 'p', displayName: 'Operator p.v2', defaultChannel: 'stable', heads: ['p.v2'] },
  ]);
});

test('channels are sorted, and show all heads', () => {
  expect(listedChannels(graph, 'p')).toEqual([
    { package: 'p', channel: 'broken', heads: ['p.v1', 'p.v2'] },
    { package: 'p', channel: 'stable', heads: ['p.v2'] },
  ]);
});

test('bundles are listed once for each channel, with their edges and image', () => {
  const rows = listedBundles(graph).map((row) => [row.channel, row.name, row.replaces, row.image]);
  expect(rows).toEqual([
    ['broken', 'p.v1', '', 'q.io/p.v1'],
    ['broken', 'p.v2', '', 'q.io/p.v2'],
    ['stable', 'p.v1', '', 'q.io/p.v1'],
    ['stable', 'p.v2', 'p.v1', 'q.io/p.v2'],
  ]);
});

test.each([listedPackages, listedChannels, listedBundles])(
  '%o refuses an unknown package',
  (rows) => {
    expect(() => rows(graph, 'zz')).toThrow('package "zz" not found');
  },
);

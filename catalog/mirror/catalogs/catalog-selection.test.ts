import { expect, test } from 'vitest';
import type { ChosenCatalog } from '../image-set/image-set.ts';
import { selectionOf } from './pruned-catalog.ts';

const catalog: ChosenCatalog = { catalog: 'quay.example/c:v1', full: false, packages: [] };
const a = { name: 'a', channels: [] };

test.each([
  ['of all packages, the heads of default channels', {}, { which: 'default', versions: 'head' }],
  ['in full, everything', { full: true }, { which: 'all', versions: 'all' }],
])('without packages: %s', (_what, chosen, channels) => {
  expect(selectionOf({ ...catalog, ...chosen }).others).toEqual({ channels });
});

test.each([
  ['the head of the default channel', {}, { which: 'default', versions: 'head' }],
  ['in full, all channels', { full: true }, { which: 'all', versions: 'all' }],
  [
    'the head of a channel',
    { packages: [{ ...a, channels: [{ name: 'c' }] }] },
    [{ name: 'c', versions: 'head' }],
  ],
  [
    'in full, all of a channel',
    { full: true, packages: [{ ...a, channels: [{ name: 'c' }] }] },
    [{ name: 'c', versions: 'all' }],
  ],
])('of a package: %s', (_what, chosen, channels) => {
  const { packages, others } = selectionOf({ ...catalog, packages: [a], ...chosen });
  expect(packages.get('a')?.channels).toEqual(channels);
  expect(others).toBeUndefined();
});

test('a range of a package is one of its default channel', () => {
  const packages = [{ ...a, minVersion: '1.0.0', maxVersion: '2.0.0' }];
  expect(selectionOf({ ...catalog, packages }).packages.get('a')?.channels).toMatchObject({
    which: 'default',
    versions: { text: '>=1.0.0 <=2.0.0' },
  });
});

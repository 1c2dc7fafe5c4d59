import { deepStrictEqual } from 'node:assert';
import { test } from 'vitest';
import { compareCatalogs, compareChannels } from './index.ts';

function catalog(name: string, priority: number, namespace = 'olm') {
  return { name, priority, namespace };
}

test('catalogs: the own one, by priority, those of the namespace, by name', () => {
  const catalogs = [
    catalog('z', 0),
    catalog('a', 0),
    catalog('m', 0, 'team'),
    catalog('high', 10),
    catalog('own', -5),
  ];
  const viewpoint = { catalog: { name: 'own', namespace: 'olm' }, namespace: 'team' };
  const sorted = catalogs.toSorted((a, b) => compareCatalogs(a, b, viewpoint));
  deepStrictEqual(
    sorted.map(({ name }) => name),
    ['own', 'high', 'm', 'a', 'z'],
  );
});

test('channels: default ones, by package, by name', () => {
  const channels = ['zb/zz!', 'ab/beta', 'ab/alpha', 'ab/main!'].map((text) => {
    const [packageName = '', channel = ''] = text.replace('!', '').split('/');
    return { packageName, channel, isDefaultChannel: text.endsWith('!') };
  });
  deepStrictEqual(
    channels
      .toSorted(compareChannels)
      .map(({ packageName, channel }) => `${packageName}/${channel}`),
    ['ab/main', 'zb/zz', 'ab/alpha', 'ab/beta'],
  );
});

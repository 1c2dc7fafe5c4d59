import { describe, expect, test } from 'vitest';
import {
  aServedCatalog,
  aServedClusterCatalog,
  packageOf,
  remoteCatalogs,
} from '../../../test/helpers/remote-catalogs.ts';
import { closeNames } from './close-names.ts';
import { packageInfo } from './package-info.ts';
import { packageNames, searchPackages } from './package-search.ts';

const metadata = {
  displayName: 'The Painter',
  annotations: { description: 'Paints walls.' },
  description: '# Painter\n\nLong.',
  keywords: ['colour', 7],
  provider: { name: 'Example' },
  installModes: [
    { type: 'AllNamespaces', supported: true },
    { type: 'OwnNamespace', supported: false },
  ],
};
const csv = {
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'ClusterServiceVersion',
  metadata: { name: 'plumber.v1.0.0' },
  spec: { displayName: 'Plumber', description: '## About\n\nMends\npipes.\n\nMore.' },
};
const embedded = {
  type: 'olm.bundle.object',
  value: { data: Buffer.from(JSON.stringify(csv)).toString('base64') },
};
const objects = [aServedCatalog('a'), aServedClusterCatalog('b')];
const painter = packageOf('painter', { versions: ['1.0.0', '1.10.0', '1.9.0'], metadata });
const plumber = packageOf('plumber', { properties: [embedded] });
const plain = packageOf('plain', { description: 'Says nothing.' });
const blobs = { a: [...plumber, ...painter], b: [...plain, ...painter] };

describe('a search', () => {
  test('reads packages, channels and the head of each default channel', async () => {
    const { catalogs, requests } = await remoteCatalogs(objects, { blobs: { a: blobs.a } });
    expect(await searchPackages(catalogs)).toMatchObject([
      {
        name: 'painter',
        displayName: 'The Painter',
        catalog: { kind: 'Catalog', name: 'a' },
        version: '1.9.0',
        defaultChannel: 'stable',
        channels: ['stable', 'old'],
        description: 'Paints walls.',
        keywords: ['colour'],
        installModes: ['AllNamespaces'],
      },
      {
        name: 'plumber',
        displayName: 'Plumber',
        description: 'Mends pipes.',
        keywords: [],
        installModes: [],
      },
    ]);
    expect(requests.filter((path) => path.startsWith('/catalogs/a/'))).toEqual([
      '/catalogs/a/all.json?schema=olm.channel',
      '/catalogs/a/all.json?schema=olm.package',
      '/catalogs/a/all.json?schema=olm.bundle&package=plumber&name=plumber.v1.0.0',
      '/catalogs/a/all.json?schema=olm.bundle&package=painter&name=painter.v1.9.0',
    ]);
  });

  test.each([
    ['PLUM', ['plumber a']],
    ['the painter', ['painter a', 'painter b']],
    ['colour', ['painter a', 'painter b']],
    ['says', ['plain b']],
    ['p', ['painter a', 'painter b', 'plain b', 'plumber a']],
    ['nowhere', []],
  ])('for %s', async (word, expected) => {
    const { catalogs } = await remoteCatalogs(objects, { blobs });
    const found = await searchPackages(catalogs, word);
    expect(found.map(({ name, catalog }) => `${name} ${catalog.name}`)).toEqual(expected);
  });

  test('finds the packages of other catalogs if one cannot be read, or is odd', async () => {
    const odd = [
      { schema: 'olm.package', name: 'cyclic', defaultChannel: 'c' },
      {
        schema: 'olm.channel',
        package: 'cyclic',
        name: 'c',
        entries: [
          { name: 'x', replaces: 'y' },
          { name: 'y', replaces: 'x' },
        ],
      },
      { schema: 'olm.package', name: 'empty', defaultChannel: 'none' },
    ];
    const { catalogs } = await remoteCatalogs(objects, { blobs: { a: new Error('down'), b: odd } });
    expect(await searchPackages(catalogs)).toMatchObject([
      { name: 'cyclic', version: '', channels: ['c'] },
      { name: 'empty', version: '', channels: [] },
    ]);
    expect(catalogs.unread).toMatchObject([{ catalog: { name: 'a' }, problem: 'down' }]);
    expect(await packageNames(catalogs)).toEqual(['cyclic', 'empty']);
  });
});

describe('the details of a package', () => {
  test('are those of each catalog that has it', async () => {
    const required = {
      type: 'olm.package.required',
      value: { packageName: 'brush', versionRange: '>=1.0.0' },
    };
    const old = {
      schema: 'olm.deprecations',
      package: 'painter',
      entries: [{ reference: { schema: 'olm.channel', name: 'old' }, message: 'use stable' }],
    };
    const needy = packageOf('painter', { properties: [required] });
    const { catalogs } = await remoteCatalogs(objects, {
      blobs: { a: blobs.a, b: [...needy, old] },
    });
    expect(await packageInfo(catalogs, 'painter')).toMatchObject([
      {
        catalog: { kind: 'Catalog', name: 'a' },
        displayName: 'The Painter',
        provider: 'Example',
        installModes: ['AllNamespaces'],
        version: '1.9.0',
        channels: [
          { name: 'stable', versions: ['1.10.0', '1.9.0', '1.0.0'] },
          { name: 'old', versions: ['1.0.0'] },
        ],
        requires: [],
        deprecations: [],
      },
      {
        catalog: { kind: 'ClusterCatalog', name: 'b' },
        displayName: '',
        requires: ['package "brush" in version range ">=1.0.0"'],
        deprecations: [{ schema: 'olm.channel', name: 'old', message: 'use stable' }],
      },
    ]);
  });
});

test.each([
  ['promethus', ['prometheus']],
  ['grafana', ['grafana-operator']],
  ['xyzzy-unknown', []],
])('names close to %s', (word, expected) => {
  expect(closeNames(word, ['prometheus', 'grafana-operator', 'etcd'])).toEqual(expected);
});

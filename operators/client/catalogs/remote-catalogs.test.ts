import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  aServedCatalog,
  aServedClusterCatalog,
  listing,
  packageOf,
  remoteCatalogs,
} from '../../../test/helpers/remote-catalogs.ts';
import { RemoteCatalogs } from './remote-catalogs.ts';

const all = (): boolean => true;

function without(object: KubernetesObject, ...conditions: readonly object[]): KubernetesObject {
  return { ...object, status: { conditions } };
}

describe('the catalogs of a cluster', () => {
  test('are in the order of the controller, each with its state', async () => {
    const failed = {
      type: 'Unpacked',
      status: 'False',
      reason: 'UnpackFailed',
      message: 'no image',
    };
    const off = { ...aServedClusterCatalog('off'), spec: { availabilityMode: 'Unavailable' } };
    const { catalogs } = await remoteCatalogs(
      [
        aServedCatalog('b'),
        aServedCatalog('a'),
        aServedClusterCatalog('low', -1),
        aServedClusterCatalog('high', 5),
        without(aServedCatalog('new')),
        without(aServedCatalog('broken'), failed),
        off,
      ],
      { blobs: {} },
    );
    expect(catalogs.serving().map(({ name }) => name)).toEqual(['high', 'a', 'b', 'low']);
    expect(catalogs.serving()[0]).toMatchObject({
      labels: { 'olm.operatorframework.io/metadata.name': 'high' },
      resolvedRef: 'r@high',
    });
    expect(catalogs.absent().map(({ name, state, problem }) => [name, state, problem])).toEqual([
      ['broken', 'Failed', 'no image'],
      ['new', 'Pending', ''],
      ['off', 'Unavailable', 'it is switched off'],
    ]);
    expect(catalogs.unread.map(({ problem }) => problem)).toEqual([
      'no image',
      'it is not unpacked yet',
    ]);
  });

  test('serve while a refresh fails', async () => {
    const object = aServedCatalog('a');
    const conditions = [{ type: 'Unpacked', status: 'False', message: 'no registry' }];
    const status = { ...(object['status'] as object), conditions };
    const { catalogs } = await remoteCatalogs([{ ...object, status }], { blobs: {} });
    expect(catalogs.serving()).toMatchObject([{ name: 'a', problem: 'no registry' }]);
  });

  test('are absent while their content is lost, though their statuses name it', async () => {
    const lost = [aServedCatalog('a'), aServedClusterCatalog('b')].map((object) => {
      const status = object['status'] as Record<string, unknown>;
      const failed = { status: 'False', reason: 'UnpackFailed', message: 'no registry' };
      const conditions = ['Unpacked', 'Progressing'].map((type) => ({ type, ...failed }));
      return { ...object, status: { ...status, packages: undefined, urls: undefined, conditions } };
    });
    const { catalogs } = await remoteCatalogs(lost, { blobs: {} });
    expect(catalogs.serving()).toEqual([]);
    expect(catalogs.absent()).toMatchObject([
      { name: 'a', state: 'Failed', problem: 'no registry' },
      { name: 'b', state: 'Failed', problem: 'no registry' },
    ]);
  });

  test('may be of one kind alone, or of none', async () => {
    const { signal } = new AbortController();
    const read = async function* () {};
    for (const kinds of [['ClusterCatalog'], []]) {
      const client = listing([aServedCatalog('a')], kinds);
      const catalogs = await RemoteCatalogs.open({ client, read, signal });
      expect([...catalogs.kinds]).toEqual(kinds);
      expect(catalogs.serving()).toEqual([]);
    }
  });
});

describe('a package', () => {
  const objects = [aServedCatalog('a'), aServedClusterCatalog('b'), aServedCatalog('c')];

  test('is read once from each catalog, at the address of its kind', async () => {
    const blobs = { a: packageOf('painter', { versions: ['1.0.0', '2.0.0'] }), b: packageOf('x') };
    const { catalogs, requests } = await remoteCatalogs(objects, { blobs });
    const found = await catalogs.findPackage('painter', all);
    expect(found).toMatchObject([
      {
        catalog: { kind: 'Catalog', name: 'a' },
        content: {
          name: 'painter',
          catalog: { name: 'a', namespace: '', priority: 0 },
          defaultChannel: 'stable',
          channels: [{ name: 'old' }, { name: 'stable' }],
          bundles: [{ name: 'painter.v1.0.0' }, { version: { major: 2n } }],
        },
      },
    ]);
    expect(requests.slice().sort()).toEqual([
      '/catalogs/a/all.json?package=painter',
      '/catalogs/a/all.json?schema=olm.package&name=painter',
      '/catalogs/b/api/v1/metas?package=painter',
      '/catalogs/b/api/v1/metas?schema=olm.package&name=painter',
      '/catalogs/c/all.json?package=painter',
      '/catalogs/c/all.json?schema=olm.package&name=painter',
    ]);
    await catalogs.findPackage('painter', all);
    expect(requests).toHaveLength(6);
    expect(await catalogs.findPackage('painter', ({ name }) => name === 'b')).toEqual([]);
  });

  test('is found in the answer of a server that knows no parameters', async () => {
    const blobs = { a: [...packageOf('other'), ...packageOf('painter')] };
    const { catalogs } = await remoteCatalogs(objects, { blobs, sendsAll: true });
    const [found] = await catalogs.findPackage('painter', all);
    expect(found).toMatchObject({ content: { bundles: [{ name: 'painter.v1.0.0' }] } });
  });

  test('is found in other catalogs while one cannot be read', async () => {
    const blobs = { a: new Error('connection refused'), b: packageOf('painter') };
    const { catalogs } = await remoteCatalogs(objects, { blobs });
    const [a, b, ...others] = await catalogs.findPackage('painter', all);
    expect(a).toMatchObject({ catalog: { name: 'a' }, problem: 'connection refused' });
    expect(b).toMatchObject({ catalog: { name: 'b' }, content: { name: 'painter' } });
    expect(others).toEqual([]);
    expect(catalogs.unread).toMatchObject([{ problem: 'connection refused' }]);
  });

  test.each([
    ['<html>', 'its answer is not in JSON lines, or was cut'],
    ['[1]\n', 'its answer has a line that is not a blob'],
    ['x'.repeat(65 * 1024 * 1024), 'it has sent more than 67108864 bytes in one blob'],
  ])('cannot be read from a strange answer', async (text, problem) => {
    const catalogs = await RemoteCatalogs.open({
      client: listing([aServedCatalog('a')]),
      async *read() {
        yield Buffer.from(text);
      },
      signal: new AbortController().signal,
    });
    expect(await catalogs.findPackage('painter', all)).toMatchObject([{ problem }]);
  });
});

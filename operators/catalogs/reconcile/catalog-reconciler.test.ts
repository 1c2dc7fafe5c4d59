import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  aCatalog,
  packageBlobs,
  ReconcilerFixture,
  shopTag as tag,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { catalogAdapter } from '../kinds/catalog.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';

const minute = 60_000;
let replica: ReconcilerFixture;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(catalogAdapter);
});
afterEach(() => replica.stop());

describe('a new Catalog', () => {
  test('is unpacked, and its status says so in the words of catalogd', async () => {
    const resolvedRef = replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    expect(await replica.reconcile()).toBeUndefined();
    expect(replica.object?.metadata.finalizers).toEqual([
      'catalogd.operatorframework.io/delete-server-cache',
    ]);
    const { conditions: _, ...status } = replica.status;
    expect(status).toEqual({
      phase: 'Unpacked',
      resolvedSource: {
        type: 'image',
        image: { ref: tag, resolvedRef, lastPollAttempt: '2026-01-01T00:00:00Z' },
      },
      contentURL: 'https://catalogs.example/catalogs/shop/all.json',
      observedGeneration: 1,
      packages: 1,
    });
    expect(replica.conditions).toEqual([
      'Unpacked=True UnpackSuccessful: ',
      `Ready=True Serving: Serving the content of ${resolvedRef}.`,
    ]);
    expect((replica.status['conditions'] as object[])[0]).not.toHaveProperty('observedGeneration');
    expect(replica.served.serving()).toMatchObject([{ name: 'shop', resolvedRef }]);
  });

  test('that takes long no longer counts as pending, and serves when its content is there', async () => {
    replica.push(tag, packageBlobs('a'));
    const arrived = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    replica.onFetch = async () => {
      started.resolve();
      await arrived.promise;
    };
    replica.put(aCatalog());
    const reconciled = replica.reconcile();
    await started.promise;
    expect(replica.served.absent()).toMatchObject([{ state: 'Pending' }]);
    replica.changes.length = 0;
    replica.clock.advance(2 * minute);
    await expect.poll(() => replica.changes).toHaveLength(1);
    const problem = 'its content has not been there for 120 s';
    expect(replica.served.absent()).toMatchObject([{ state: 'Failed', problem }]);
    arrived.resolve();
    await reconciled;
    expect(replica.served.serving()).toMatchObject([{ name: 'shop', problem: undefined }]);
  });

  test('costs nothing more without an interval', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    await replica.reconcile();
    const writes = replica.client.patches.length;
    replica.clock.advance(1000 * minute);
    expect(await replica.reconcile()).toBeUndefined();
    expect([replica.resolved.length, replica.client.patches.length]).toEqual([1, writes]);
  });

  test('names Docker Hub as catalogd does, and knows it again', async () => {
    replica.tags.set('nginx/shop:v1', `docker.io/nginx/shop@sha256:${'1'.repeat(64)}`);
    replica.put(aCatalog({ ref: 'nginx/shop:v1' }));
    await replica.reconcile();
    const resolved = replica.status['resolvedSource'] as { image: { resolvedRef: string } };
    expect(resolved.image.resolvedRef).toBe(`index.docker.io/nginx/shop@sha256:${'1'.repeat(64)}`);
    await replica.reconcile();
    expect(replica.resolved).toHaveLength(1);
  });
});

describe('a restart', () => {
  test('without the disk fetches what was served, and writes nothing', async () => {
    const resolvedRef = replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    await replica.reconcile();
    const writes = replica.client.patches.length;
    replica = await replica.restarted(catalogAdapter, { keepsDisk: false });
    replica.push(tag, packageBlobs('a', '2.0.0'));
    await replica.reconcile();
    expect([replica.resolved.length, replica.client.patches.length]).toEqual([0, writes]);
    expect(replica.served.serving()).toMatchObject([{ resolvedRef }]);
  });

  test('at another address says so, also while the registry is down', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '1m' }));
    await replica.reconcile();
    replica = await replica.restarted(catalogAdapter, { address: 'https://elsewhere.example' });
    replica.resolveFailure = new CatalogFailure('descriptor', 'connection refused');
    replica.clock.advance(2 * minute);
    await replica.reconcile();
    const contentURL = 'https://elsewhere.example/catalogs/shop/all.json';
    expect(replica.status).toMatchObject({ phase: 'Failing', contentURL });
  });

  test('without the disk and the tag serves the old content', async () => {
    const resolvedRef = replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '1m' }));
    await replica.reconcile();
    replica.clock.advance(2 * minute);
    replica = await replica.restarted(catalogAdapter, { keepsDisk: false });
    replica.resolveFailure = new CatalogFailure('descriptor', 'no such tag');
    await replica.reconcile();
    expect(replica.status).toMatchObject({ phase: 'Failing' });
    expect(replica.served.serving()).toMatchObject([{ resolvedRef }]);
  });

  test('with content of a former object of the name unpacks again', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    await replica.reconcile();
    replica.client.drop({ name: 'shop' });
    const again = aCatalog();
    replica.client.put({ ...again, metadata: { ...again.metadata, uid: 'uid-2' } });
    replica = await replica.restarted(catalogAdapter);
    expect(replica.served.serving()).toEqual([]);
    await replica.reconcile();
    expect(replica.fetched).toHaveLength(1);
  });
});

describe('a tag that moves', () => {
  test('changes what is served, and names the packages that changed', async () => {
    replica.push(tag, [packageBlobs('a'), packageBlobs('b'), packageBlobs('c')].join('\n'));
    replica.put(aCatalog({ pollInterval: '1m' }));
    await replica.reconcile();
    const resolvedRef = replica.push(
      tag,
      [packageBlobs('a'), packageBlobs('b', '2.0.0'), packageBlobs('d')].join('\n'),
    );
    replica.changes.length = 0;
    replica.clock.advance(2 * minute);
    await replica.reconcile();
    expect(replica.changes.map(({ packages }) => [...packages].toSorted())).toEqual([
      ['b', 'c', 'd'],
    ]);
    const found = await replica.served.findPackage('b', () => true);
    expect(found).toMatchObject([
      { catalog: { resolvedRef }, content: { bundles: [{ name: 'b.v2.0.0' }] } },
    ]);
    expect(replica.events).toHaveLength(2);
  });

  test('to broken content changes nothing but the condition, and is not downloaded again', async () => {
    const former = replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '1m' }));
    await replica.reconcile();
    const brokenRef = replica.push(tag, 'no: [yaml');
    replica.fetchFailure = new CatalogFailure('content', 'yaml: line 1: no', { brokenRef });
    replica.clock.advance(2 * minute);
    expect(await replica.reconcile()).toBeLessThan(2000);
    expect(replica.conditions).toEqual([
      'Unpacked=False FailedToStore: failed to store bundle: error storing fbc: error in parsing catalog content files in the filesystem: yaml: line 1: no',
      expect.stringContaining(`Ready=False RefreshFailed: failed to store bundle`),
      expect.stringContaining('Reconciling=True RefreshFailed'),
    ]);
    expect(replica.status).toMatchObject({
      phase: 'Failing',
      contentURL: 'https://catalogs.example/catalogs/shop/all.json',
      resolvedSource: { image: { resolvedRef: former } },
    });
    expect(replica.served.serving()).toMatchObject([
      { resolvedRef: former, problem: expect.stringContaining('yaml: line 1') },
    ]);
    const writes = replica.client.patches.length;
    for (const delay of [2, 4, 8]) {
      replica.clock.advance(delay * 1000);
      expect(await replica.reconcile()).toBeGreaterThanOrEqual(delay * 1000);
    }
    expect(replica.fetched).toHaveLength(2);
    expect(replica.client.patches).toHaveLength(writes);
    replica.fetchFailure = undefined;
    replica.push(tag, packageBlobs('a', '3.0.0'));
    replica.clock.advance(minute);
    await replica.reconcile();
    expect(replica.conditions[0]).toBe('Unpacked=True UnpackSuccessful: ');
    expect(replica.conditions).toHaveLength(2);
  });
});

describe('a registry that fails', () => {
  test('is asked again with back-off, and at once for another spec', async () => {
    replica.resolveFailure = new CatalogFailure('descriptor', 'HEAD x: unexpected status code 401');
    replica.put(aCatalog());
    expect(await replica.reconcile()).toBeLessThan(1200);
    expect(replica.conditions[0]).toBe(
      'Unpacked=False UnpackFailed: source bundle content: error fetching image descriptor: HEAD x: unexpected status code 401',
    );
    expect(replica.served.absent()).toMatchObject([{ state: 'Failed' }]);
    expect(replica.status).not.toHaveProperty('resolvedSource');
    await replica.reconcile();
    expect(replica.resolved).toHaveLength(1);
    replica.resolveFailure = undefined;
    replica.push(tag, packageBlobs('a'));
    replica.put(replica.changed({ pullSecret: 'mine' }, 2));
    await replica.reconcile();
    expect(replica.status).toMatchObject({ phase: 'Unpacked', observedGeneration: 2 });
  });

  test.each([
    ['keychain', 'pull secret "mine" is empty', 'error getting auth keychain: '],
    ['image', 'error fetching remote image "x": y', 'error unpacking image: '],
  ] as const)('is named by its step: %s', async (step, message, prefix) => {
    replica.resolveFailure = new CatalogFailure(step, message);
    replica.put(aCatalog({ pullSecret: 'mine' }));
    await replica.reconcile();
    expect(replica.conditions[0]).toBe(
      `Unpacked=False UnpackFailed: source bundle content: ${prefix}${message}`,
    );
  });

  test('for an hour changes nothing of what is served, and is written once', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '1m' }));
    let next = (await replica.reconcile()) ?? 0;
    const writes = replica.client.patches.length;
    replica.resolveFailure = new CatalogFailure('descriptor', 'connection refused');
    for (let passed = 0; passed < 60 * minute; passed += next) {
      replica.clock.advance(next);
      next = (await replica.reconcile()) ?? 0;
    }
    expect(replica.client.patches).toHaveLength(writes + 1);
    expect(replica.resolved.length).toBeLessThan(30);
    expect(replica.served.serving()).toHaveLength(1);
    replica.resolveFailure = undefined;
    replica.clock.advance(next);
    await replica.reconcile();
    expect(replica.conditions[0]).toBe('Unpacked=True UnpackSuccessful: ');
    expect(replica.fetched).toHaveLength(1);
  });

  test.each([
    [{ source: { type: 'git', image: { ref: tag } } }, 'source type "git" not supported'],
    [{ source: { type: 'image' } }, 'error parsing catalog, catalog shop has a nil image source'],
    [undefined, 'source type "" not supported'],
  ])('a spec that asks for nothing fails, and is deleted all the same', async (spec, message) => {
    const { spec: _, ...object } = aCatalog();
    replica.put(spec === undefined ? object : { ...object, spec });
    expect(await replica.reconcile()).toBeUndefined();
    expect(replica.conditions[0]).toBe(
      `Unpacked=False UnpackFailed: source bundle content: ${message}`,
    );
    expect(replica.resolved).toEqual([]);
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    replica.put({
      ...replica.object!,
      metadata: { ...replica.object!.metadata, deletionTimestamp },
    });
    await replica.reconcile();
    expect(replica.object?.metadata.finalizers).toEqual([]);
  });
});

describe('a deletion', () => {
  test('ends a running download, and takes the content along', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    replica.onFetch = async (by) => {
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      const { object } = replica;
      replica.put({ ...object!, metadata: { ...object!.metadata, deletionTimestamp } });
      by.throwIfAborted();
    };
    expect(await replica.reconcile()).toBeUndefined();
    await replica.reconcile();
    expect(replica.object?.metadata.finalizers).toEqual([]);
    expect(replica.served.serving()).toEqual([]);
    expect(await replica.store.open({ kind: 'Catalog', name: 'shop' }, 'uid-1')).toBeUndefined();
  });

  test('that fails says so and is tried again', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    await replica.reconcile();
    const readOnly = vi
      .spyOn(replica.store, 'remove')
      .mockRejectedValue(new Error('the disk is read-only'));
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    replica.put({
      ...replica.object!,
      metadata: { ...replica.object!.metadata, deletionTimestamp },
    });
    await expect(replica.reconcile()).rejects.toThrow('the disk is read-only');
    expect(replica.conditions).toContain(
      'Delete=False FailedToDelete: failed to delete storage: the disk is read-only',
    );
    readOnly.mockRestore();
    await replica.reconcile();
    expect(replica.object?.metadata.finalizers).toEqual([]);
  });
});

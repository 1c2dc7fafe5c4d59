import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  aCatalog,
  packageBlobs,
  ReconcilerFixture,
  shopTag as tag,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { catalogAdapter } from '../kinds/catalog.ts';
import { clusterCatalogAdapter } from '../kinds/cluster-catalog.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';

const minute = 60_000;
const busy = 'error fetching remote image "x": 503 Service Unavailable';

const clusterCatalog = {
  apiVersion: 'olm.operatorframework.io/v1',
  kind: 'ClusterCatalog',
  metadata: { name: 'shop', uid: 'uid-1', generation: 1 },
  spec: { source: { type: 'Image', image: { ref: tag } } },
};

describe.each([
  [catalogAdapter, aCatalog()],
  [clusterCatalogAdapter, clusterCatalog],
] as const)('a restart without the disk (%#)', (adapter, object) => {
  let replica: ReconcilerFixture;
  let first: string;
  let moved: string;

  /** A new process without the disk, whose registry is busy; the tag has moved meanwhile. */
  beforeEach(async () => {
    replica = await ReconcilerFixture.start(adapter);
    first = replica.push(tag, packageBlobs('a'));
    replica.put(object);
    await replica.reconcile();
    await restart();
    moved = replica.push(tag, packageBlobs('a', '2.0.0'));
  });
  afterEach(() => replica.stop());

  async function restart(): Promise<void> {
    replica = await replica.restarted(adapter, { keepsDisk: false });
    replica.fetchFailure = new CatalogFailure('image', busy);
  }

  async function reachable(): Promise<void> {
    replica.fetchFailure = undefined;
    replica.clock.advance(minute);
    await replica.reconcile();
  }

  const refs = () => replica.served.serving().map(({ resolvedRef }) => resolvedRef);
  const remembered = () => adapter.read(replica.object!).remembered;
  const ready = () => replica.conditions.find((text) => text.startsWith('Ready='));

  test('whose first download fails, serves what was served', async () => {
    const { generation, polledAt } = remembered();
    expect(await replica.reconcile()).toBeLessThan(1200);
    expect(replica.served.absent()).toMatchObject([
      { state: 'Failed', problem: expect.stringContaining(busy) },
    ]);
    expect(ready()).toMatch(/^Ready=False ContentLost: .*503 Service Unavailable\. The controller/);
    expect(ready()).toContain(`retries to fetch ${first}`);
    expect(remembered()).toMatchObject({ resolvedRef: first, isServed: false, polledAt });
    await reachable();
    expect([refs(), replica.resolved]).toEqual([[first], []]);
    expect(remembered()).toEqual({
      resolvedRef: first,
      isServed: true,
      polledAt,
      generation,
      problem: undefined,
    });
    expect(ready()).toBe(`Ready=True Serving: Serving the content of ${first}.`);
  });

  test('tries again at each retry, and restarts meanwhile', async () => {
    for (const delay of [1200, 2400, 4800]) {
      expect(await replica.reconcile()).toBeLessThan(delay);
      replica.clock.advance(delay);
    }
    expect(replica.fetched).toEqual([first, first, first]);
    await restart();
    await replica.reconcile();
    await reachable();
    expect([refs(), replica.resolved]).toEqual([[first], []]);
  });

  test('is followed by a leader that has the content', async () => {
    await replica.reconcile();
    await restart();
    replica.isLeading = false;
    await reachable();
    expect([replica.fetched, ready()]).toEqual([[first], expect.stringContaining('ContentLost')]);
    replica.isLeading = true;
    await replica.reconcile();
    expect([refs(), replica.resolved]).toEqual([[first], []]);
    expect(ready()).toContain('Ready=True');
  });

  test('serves what the tag names if the registry has the old content no more', async () => {
    replica.fetchFailure = new CatalogFailure('image', 'no such digest', { isMissing: true });
    replica.onFetch = async () => {
      if (replica.fetched.length > 1) replica.fetchFailure = undefined;
    };
    await replica.reconcile();
    expect(replica.fetched).toEqual([first, moved]);
    expect(refs()).toEqual([moved]);
    expect(remembered()).toMatchObject({ resolvedRef: moved, problem: undefined });
  });

  test('asks for the tag when the spec changes', async () => {
    await replica.reconcile();
    const { metadata } = replica.object!;
    replica.put({ ...replica.object!, metadata: { ...metadata, generation: 2 } });
    await replica.reconcile();
    await reachable();
    expect(refs()).toEqual([moved]);
    expect(replica.resolved).not.toEqual([]);
  });

  test('forgets a digest of another repository', async () => {
    await replica.reconcile();
    replica.resolveFailure = new CatalogFailure('descriptor', 'no');
    const { metadata } = replica.object!;
    const spec = JSON.parse(JSON.stringify(object.spec).replace('reg.', 'other.'));
    replica.put({ ...replica.object!, spec, metadata: { ...metadata, generation: 2 } });
    await replica.reconcile();
    expect(remembered()).toMatchObject({ resolvedRef: undefined, isServed: false });
  });

  test('tells a full disk in the status, and unpacks a broken image only once', async () => {
    replica.fetchFailure = undefined;
    replica.onFetch = async () => {
      throw new Error('ENOSPC: no space left on device, write');
    };
    await replica.reconcile();
    expect(ready()).toContain('error unpacking image: ENOSPC');
    replica.onFetch = async () => undefined;
    replica.fetchFailure = new CatalogFailure('content', 'too big', { brokenRef: first });
    for (let index = 0; index < 3; index += 1) {
      replica.clock.advance(minute);
      await replica.reconcile();
    }
    expect([replica.fetched, replica.resolved]).toEqual([[first, first], []]);
  });
});

test('a poll that is due needs no content of before', async () => {
  let replica = await ReconcilerFixture.start(catalogAdapter);
  replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog({ pollInterval: '1m' }));
  await replica.reconcile();
  replica.clock.advance(2 * minute);
  replica = await replica.restarted(catalogAdapter, { keepsDisk: false });
  const moved = replica.push(tag, packageBlobs('a', '2.0.0'));
  replica.fetchFailure = new CatalogFailure('image', busy);
  replica.onFetch = async () => {
    if (replica.fetched.length > 1) replica.fetchFailure = undefined;
  };
  await replica.reconcile();
  expect(replica.served.serving()).toMatchObject([{ resolvedRef: moved }]);
  await replica.stop();
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  packageBlobs,
  ReconcilerFixture,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import { clusterCatalogAdapter } from './cluster-catalog.ts';

const tag = 'reg.example/shop:v1';
let replica: ReconcilerFixture;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(clusterCatalogAdapter);
});
afterEach(() => replica.stop());

function aCatalog(spec: object = {}, image: object = {}, generation = 1) {
  return {
    ...replica.object,
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: 'shop', uid: 'uid-1', ...replica.object?.metadata, generation },
    spec: { source: { type: 'Image', image: { ref: tag, ...image } }, ...spec },
  };
}

const available = [
  'Progressing=True Succeeded: Successfully unpacked and stored content from resolved source',
  'Serving=True Available: Serving desired content from resolved source',
];

test('is served, with the words of operator-controller', async () => {
  const ref = replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog({ priority: 7 }));
  await replica.reconcile();
  const { conditions: _, ...status } = replica.status;
  expect(status).toEqual({
    resolvedSource: { type: 'Image', image: { ref } },
    urls: { base: 'https://catalogs.example/catalogs/shop' },
    lastUnpacked: '2026-01-01T00:00:00Z',
    lastPollAttempt: '2026-01-01T00:00:00Z',
    packages: 1,
  });
  expect(replica.conditions.slice(0, 2)).toEqual(available);
  expect((replica.status['conditions'] as object[])[0]).toMatchObject({ observedGeneration: 1 });
  expect(replica.object?.metadata).toMatchObject({
    finalizers: ['olm.operatorframework.io/delete-server-cache'],
    labels: { 'olm.operatorframework.io/metadata.name': 'shop' },
  });
  const labels = { 'olm.operatorframework.io/metadata.name': 'shop' };
  expect(replica.served.serving()).toMatchObject([{ kind: 'ClusterCatalog', priority: 7, labels }]);
});

test('has the URL of its content at the address of the process that serves it', async () => {
  replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog());
  await replica.reconcile();
  const { urls: _, ...others } = replica.status;
  const address = 'https://elsewhere.example';
  replica = await replica.restarted(clusterCatalogAdapter, { address });
  await replica.reconcile();
  expect(replica.status).toEqual({ ...others, urls: { base: `${address}/catalogs/shop` } });
});

test('keeps serving while a refresh fails, and says so', async () => {
  const ref = replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog({}, { pollIntervalMinutes: 1 }));
  await replica.reconcile();
  const { conditions: _, ...before } = replica.status;
  replica.resolveFailure = new CatalogFailure('descriptor', 'connection refused');
  replica.clock.advance(61_000);
  await replica.reconcile();
  expect(replica.conditions.slice(0, 2)).toEqual([
    'Progressing=True Retrying: source catalog content: error fetching image descriptor: connection refused',
    available[1],
  ]);
  expect(replica.status).toMatchObject(before);
  expect(replica.served.serving()).toMatchObject([{ resolvedRef: ref }]);
  expect(replica.events.at(-1)).toContain(`Still serving ${ref}.`);
});

test('that never had content does not serve', async () => {
  replica.resolveFailure = new CatalogFailure('descriptor', 'no');
  replica.put(aCatalog());
  await replica.reconcile();
  expect(replica.conditions.slice(0, 2)).toEqual([
    'Progressing=True Retrying: source catalog content: error fetching image descriptor: no',
    'Serving=False Unavailable: ',
  ]);
});

test.each([
  ['an impossible reference', undefined, { isFinal: true }],
  ['broken content of a digest', { ref: 'reg.example/shop@sha256:1' }, { brokenRef: 'x' }],
])('is blocked by %s', async (_, image, options) => {
  replica.resolveFailure = new CatalogFailure('reference', 'no', options);
  replica.put(aCatalog({}, image));
  await replica.reconcile();
  expect(replica.conditions[0]).toBe(
    'Progressing=False Blocked: source catalog content: error parsing image reference: no',
  );
  expect(replica.conditions).toContainEqual(expect.stringContaining('Stalled=True'));
});

test('is switched off and on without a download', async () => {
  replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog());
  await replica.reconcile();
  replica.changes.length = 0;
  replica.put(aCatalog({ availabilityMode: 'Unavailable' }, {}, 2));
  await replica.reconcile();
  const text = 'Catalog availability mode is set to Unavailable';
  expect(replica.conditions.slice(0, 2)).toEqual([
    `Progressing=True Succeeded: ${text}`,
    `Serving=False UserSpecifiedUnavailable: ${text}`,
  ]);
  expect(Object.keys(replica.status)).toEqual(['conditions']);
  expect(replica.served.absent()).toMatchObject([{ state: 'Unavailable' }]);
  expect(replica.changes.map(({ packages }) => [...packages])).toEqual([['a']]);
  replica.put(aCatalog({}, {}, 3));
  await replica.reconcile();
  expect(replica.conditions.slice(0, 2)).toEqual(available);
  expect(replica.fetched).toHaveLength(1);
});

test('whose priority changes concerns all of its packages', async () => {
  replica.push(tag, packageBlobs('a'));
  replica.put(aCatalog());
  await replica.reconcile();
  replica.changes.length = 0;
  replica.put(aCatalog({ priority: 9 }, {}, 2));
  await replica.reconcile();
  expect(replica.changes).toMatchObject([{ catalog: { priority: 9 }, packages: new Set(['a']) }]);
  expect(replica.fetched).toHaveLength(1);
});

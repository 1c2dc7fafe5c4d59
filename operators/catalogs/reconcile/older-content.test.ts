import { existsSync } from 'node:fs';
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
interface Named {
  readonly image: { readonly resolvedRef: string };
}

let replica: ReconcilerFixture;
let older: string;
let newer: string;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(catalogAdapter);
  older = replica.push(tag, packageBlobs('a'));
});
afterEach(() => replica.stop());

/** A follower whose disk has the older content, while the status names the newer one. */
async function lagging(image: object = {}): Promise<void> {
  replica.put(aCatalog(image));
  await replica.reconcile();
  replica = await replica.restarted(catalogAdapter);
  replica.isLeading = false;
  newer = replica.push(tag, packageBlobs('a', '2.0.0'));
  name(newer);
  replica.fetchFailure = new CatalogFailure('image', 'the registry is slow');
  await expect(replica.reconcile()).rejects.toThrow('the registry is slow');
}

/** Writes a digest into the status, as the leader or somebody else would. */
function name(resolvedRef: string): void {
  const text = JSON.stringify(replica.object);
  replica.put(JSON.parse(text.replace(/"resolvedRef":"[^"]*"/, `"resolvedRef":"${resolvedRef}"`)));
}

const refs = () => replica.served.serving().map(({ resolvedRef }) => resolvedRef);
const states = () => replica.served.absent().map(({ state }) => state);
const shop = { catalog: 'shop', endpoint: 'all.json' } as const;
/** What HTTP has. */
const shown = () =>
  replica.served.find(shop) &&
  replica.served.stateOf({ kind: 'Catalog', name: 'shop' })?.resolvedRef;

describe('a follower that leads with older content than the status names', () => {
  test('is pending until it has it, and shows the older content meanwhile', async () => {
    await lagging({ pollInterval: '1h' });
    expect([refs(), states(), shown()]).toEqual([[], ['Pending'], older]);
    const found = await replica.served.findPackage('a', () => true);
    expect([found, replica.served.places(() => true)]).toEqual([[], []]);
    replica.isLeading = true;
    replica.fetchFailure = undefined;
    replica.changes.length = 0;
    replica.onFetch = async () => {
      expect([refs(), states(), shown()]).toEqual([[], ['Pending'], older]);
    };
    await replica.reconcile();
    expect([refs(), states()]).toEqual([[newer], []]);
    expect(replica.changes.map(({ packages }) => [...packages])).toEqual([['a']]);
  });

  test('counts as failed after two minutes', async () => {
    await lagging();
    replica.changes.length = 0;
    replica.clock.advance(2 * minute);
    await expect.poll(() => replica.changes).toHaveLength(1);
    const problem = 'its content has not been there for 120 s';
    expect(replica.served.absent()).toMatchObject([{ state: 'Failed', problem }]);
  });

  test('counts as failed when it cannot fetch it, and says why', async () => {
    await lagging();
    replica.isLeading = true;
    await replica.reconcile();
    expect(refs()).toEqual([]);
    expect(replica.served.absent()).toMatchObject([
      { state: 'Failed', problem: expect.stringContaining('the registry is slow') },
    ]);
    expect(replica.status).toMatchObject({ resolvedSource: { image: { resolvedRef: newer } } });
  });

  test('asks for no tag of a catalog that is not polled', async () => {
    await lagging();
    replica.push(tag, packageBlobs('a', '3.0.0'));
    replica.isLeading = true;
    replica.fetchFailure = undefined;
    await replica.reconcile();
    expect([refs(), replica.resolved]).toEqual([[newer], []]);
  });

  test('asks for the tag when a poll is due', async () => {
    await lagging({ pollInterval: '1m' });
    const newest = replica.push(tag, packageBlobs('a', '3.0.0'));
    replica.clock.advance(2 * minute);
    replica.isLeading = true;
    replica.fetchFailure = undefined;
    await replica.reconcile();
    expect([refs(), replica.resolved]).toEqual([[newest], [tag]]);
  });
});

test('content that the status stops to name is not resolved from, until the status names it again', async () => {
  replica.put(aCatalog());
  await replica.reconcile();
  replica.changes.length = 0;
  name(`reg.example/shop@sha256:${'9'.repeat(64)}`);
  expect([refs(), states()]).toEqual([[], ['Pending']]);
  name(older);
  expect([refs(), states()]).toEqual([[older], []]);
  expect(replica.changes.map(({ packages }) => [...packages])).toEqual([['a'], ['a']]);
});

test('a leader asks for the tag when somebody else writes another digest into the status', async () => {
  replica.put(aCatalog());
  await replica.reconcile();
  const other = replica.push('reg.example/shop:old', packageBlobs('a', '0.1.0'));
  name(other);
  await replica.reconcile();
  expect([refs(), replica.resolved]).toEqual([[older], [tag, tag]]);
  expect(replica.status).toMatchObject({ resolvedSource: { image: { resolvedRef: older } } });
  expect(replica.fetched).not.toContain(other);
});

describe('what a leader has just fetched', () => {
  const seen: unknown[] = [];
  const named = () => (replica.status['resolvedSource'] as Named).image.resolvedRef;

  beforeEach(async () => {
    replica.put(aCatalog({ pollInterval: '1m' }));
    await replica.reconcile();
    newer = replica.push(tag, packageBlobs('a', '2.0.0'));
    replica.clock.advance(2 * minute);
    seen.length = 0;
    replica.served.onChange(() => seen.push([refs(), states(), named()]));
  });

  test('is resolved from once the status names it, for another leader has it then too', async () => {
    await replica.reconcile();
    expect(seen).toEqual([[[newer], [], newer]]);
  });

  test('is not resolved from while the status cannot be written, and is not fetched twice', async () => {
    const patch = vi.spyOn(replica.client, 'patch');
    patch.mockRejectedValueOnce(new Error('the API server is gone'));
    await expect(replica.reconcile()).rejects.toThrow('the API server is gone');
    expect([refs(), shown(), seen]).toEqual([[older], older, []]);
    const [place] = replica.served.places(() => true);
    expect(existsSync(place?.directory ?? '')).toBe(true);
    await replica.reconcile();
    expect(seen).toEqual([[[newer], [], newer]]);
    expect(replica.fetched.filter((ref) => ref === newer)).toHaveLength(1);
  });
});

test('another repository in the spec leaves the content of before in use until it is fetched', async () => {
  replica.put(aCatalog());
  await replica.reconcile();
  replica.resolveFailure = new CatalogFailure('descriptor', 'no');
  replica.put(replica.changed({ ref: 'other.example/shop:v1' }, 2));
  await replica.reconcile();
  expect(refs()).toEqual([older]);
});

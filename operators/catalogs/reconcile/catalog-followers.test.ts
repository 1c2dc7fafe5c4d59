import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  aCatalog,
  packageBlobs,
  ReconcilerFixture,
  shopTag as tag,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { catalogAdapter } from '../kinds/catalog.ts';

let replica: ReconcilerFixture;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(catalogAdapter);
});
afterEach(() => replica.stop());

describe('a replica that does not lead', () => {
  test('fetches what the status names, and writes nothing', async () => {
    const resolvedRef = replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    await replica.reconcile();
    const follower = await replica.restarted(catalogAdapter, { keepsDisk: false });
    replica = follower;
    follower.isLeading = false;
    follower.push(tag, packageBlobs('b'));
    const writes = follower.client.patches.length;
    await follower.reconcile();
    expect(follower.fetched).toEqual([resolvedRef]);
    expect(follower.resolved).toEqual([]);
    expect(follower.client.patches).toHaveLength(writes);
    expect(follower.served.serving()).toMatchObject([{ resolvedRef }]);
    follower.isLeading = true;
    await follower.reconcile();
    expect(follower.resolved).toEqual([]);
  });

  test('takes no image of another repository from the status', async () => {
    replica.isLeading = false;
    const image = { ref: tag, resolvedRef: 'reg.example/other@sha256:1', lastPollAttempt: '' };
    const resolvedSource = { type: 'image', image };
    replica.put({ ...aCatalog(), status: { resolvedSource } });
    await replica.reconcile();
    expect(replica.fetched).toEqual([]);
  });

  test.each([`@sha256:${'0'.repeat(64)}`, `:v1@sha256:${'0'.repeat(64)}`])(
    'takes no other digest from the status than spec %s has, nor does a leader without content',
    async (pin) => {
      const pinned = replica.push(tag, packageBlobs('a'));
      const other = replica.push(tag, packageBlobs('b'));
      const ref = `reg.example/shop${pin}`;
      replica.tags.set(ref, pinned);
      const image = { ref, resolvedRef: other, lastPollAttempt: '2026-01-01T00:00:00Z' };
      const status = { observedGeneration: 1, resolvedSource: { type: 'image', image } };
      replica.put({ ...aCatalog({ ref }), status });
      replica.isLeading = false;
      await replica.reconcile();
      expect(replica.fetched).toEqual([]);
      replica.isLeading = true;
      await replica.reconcile();
      expect(replica.fetched).toEqual([pinned]);
      expect(replica.status).toMatchObject({ resolvedSource: { image: { resolvedRef: pinned } } });
    },
  );
});

test.each([undefined, new Error('refused')])(
  'a replica that stops leading during a download writes nothing any more (%s)',
  async (failure) => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog());
    let writes = 0;
    replica.onFetch = async () => {
      replica.isLeading = false;
      writes = replica.client.patches.length;
      if (failure !== undefined) throw failure;
    };
    await replica.reconcile();
    expect(replica.fetched).toHaveLength(1);
    expect(replica.client.patches).toHaveLength(writes);
    expect(replica.events).toEqual([]);
  },
);

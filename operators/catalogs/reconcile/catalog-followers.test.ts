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
});

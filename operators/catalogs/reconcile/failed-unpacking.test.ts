import { afterEach, beforeEach, expect, test } from 'vitest';
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
test('an unpacking that this machine lets fail is told in the status, and tried again', async () => {
  replica.push(tag, packageBlobs('a'));
  replica.onFetch = async () => {
    throw new Error('ENOSPC: no space left on device, write');
  };
  replica.put(aCatalog());
  for (const longest of [1200, 2400, 4800]) {
    const next = (await replica.reconcile()) ?? 0;
    expect(next).toBeLessThan(longest);
    replica.clock.advance(next);
  }
  expect(replica.conditions[0]).toBe(
    'Unpacked=False UnpackFailed: source bundle content: error unpacking image: ENOSPC: no space left on device, write',
  );
  expect(replica.fetched).toHaveLength(3);
  replica.onFetch = async () => undefined;
  await replica.reconcile();
  expect(replica.conditions[0]).toBe('Unpacked=True UnpackSuccessful: ');
});

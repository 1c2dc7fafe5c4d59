import { expect, test, vi } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import type { ContentRestorer } from '../../bundle/index.ts';
import { WaitingError } from '../../errors.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';
import { createServedBundles } from './content-server.ts';

const { signal } = new AbortController();

function setUp(canRestore = true) {
  const bundles = new IndexedCache<Bundle>();
  bundles.upsert(aStoredBundle());
  const checkSynced = vi.fn<() => void>();
  const restore = vi.fn<ContentRestorer['restore']>(async () => undefined);
  const served = createServedBundles(
    { bundles, checkSynced },
    { canRestore: () => canRestore, restore },
  );
  return { bundles, checkSynced, restore, served };
}

test('UID and pin are those of the Bundle that has the name now', () => {
  const { served, bundles } = setUp();
  expect(served.keyOf('demo')).toEqual({ name: 'demo', uid: 'uid-of-demo' });
  expect(served.keyOf('unknown')).toBeUndefined();
  const annotations = { [annotation.pin]: 'sha256:a' };
  bundles.upsert(aStoredBundle({ metadata: { resourceVersion: '2', annotations } }));
  expect(served.keyOf('demo')).toEqual({ name: 'demo', uid: 'uid-of-demo', pin: 'sha256:a' });
});

test('before the first list nobody knows, which is no reason to say that there is none', () => {
  const { served, checkSynced } = setUp();
  checkSynced.mockImplementation(() => {
    throw new Error('the first list is under way');
  });
  expect(() => served.keyOf('demo')).toThrow(WaitingError);
});

test('what can be restored is', async () => {
  const { served, restore } = setUp();
  expect(await served.restore('demo', signal)).toBe(true);
  expect(restore.mock.lastCall?.[0].metadata.uid).toBe('uid-of-demo');
});

test.each([
  ['unknown', true],
  ['demo', false],
])('there is nothing to restore of %s where restoring is possible: %s', async (name, possible) => {
  const { served, restore } = setUp(possible);
  expect(await served.restore(name, signal)).toBe(false);
  expect(restore).not.toHaveBeenCalled();
});

import { expect, test, vi } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { IndexedCache } from '../runtime/indexed-cache.ts';
import { createArchiveCleaner } from './archive-cleaner.ts';

function setUp() {
  const bundles = new IndexedCache<Bundle>();
  const removed: string[] = [];
  const store = {
    names: async () => ['demo', 'gone'],
    delete: vi.fn<(name: string) => Promise<void>>(async (name) => void removed.push(name)),
  };
  const leftovers: unknown[] = [];
  const cleaner = createArchiveCleaner(store, { bundles }, (error) => leftovers.push(error));
  bundles.upsert(aStoredBundle());
  return { bundles, store, removed, leftovers, cleaner };
}

function version(resourceVersion: string, uid = 'uid-of-demo'): Bundle {
  return aStoredBundle({ metadata: { uid, resourceVersion } });
}

test('archives of Bundles that went while nobody was there are removed at the start', async () => {
  const { cleaner, removed } = setUp();
  await cleaner.run(new AbortController().signal);
  expect(removed).toEqual(['gone']);
});

test('an archive goes with its Bundle, whoever ran its finalizer', () => {
  const { bundles, removed } = setUp();
  bundles.upsert(version('2'));
  expect(removed).toEqual([]);
  bundles.remove(version('3'));
  expect(removed).toEqual(['demo']);
});

test('an archive goes when the watch missed the end of its Bundle and shows a namesake', () => {
  const { bundles, removed } = setUp();
  bundles.replace([version('9', 'uid-of-namesake')], '9');
  expect(removed).toEqual(['demo']);
});

test('an archive that cannot be removed stops nothing', async () => {
  const { bundles, store, leftovers, cleaner } = setUp();
  const error = new Error('EIO');
  store.delete.mockRejectedValue(error);
  bundles.remove(version('2'));
  await eventually(() => expect(leftovers).toEqual([error]));
  await cleaner.run(new AbortController().signal);
  await cleaner.ready?.(new AbortController().signal);
  expect(leftovers).toEqual([error, error, error]);
});

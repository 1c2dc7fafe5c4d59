import { expect, test, vi } from 'vitest';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { aStoredBundle, aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { ContentKey } from '../../contracts/store.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';
import { createArchiveCleaner } from './archives.ts';

function setUp() {
  const bundles = new IndexedCache<Bundle>();
  const removed: string[] = [];
  const store = {
    list: async () => ({
      stored: ['demo', 'gone'].map((name) => ({ name, uid: `uid-of-${name}` })),
      foreign: [],
    }),
    delete: vi.fn<(key: ContentKey) => Promise<void>>(async ({ name }) => void removed.push(name)),
  };
  const kept = {
    release: async ({ metadata: { name = '', uid = '' } }: Bundle) =>
      await store.delete({ name, uid }),
    resume: vi.fn(async (): Promise<void> => undefined),
    collect: vi.fn(async () => undefined),
  };
  const deployments = new IndexedCache<BundleDeployment>();
  const leftovers: unknown[] = [];
  const onLeftover = (error: unknown): void => void leftovers.push(error);
  const cleaner = createArchiveCleaner({ store, kept }, { bundles, deployments }, onLeftover);
  bundles.upsert(aStoredBundle());
  return { bundles, deployments, kept, store, removed, leftovers, cleaner };
}

function version(resourceVersion: string, uid = 'uid-of-demo'): Bundle {
  return aStoredBundle({ metadata: { uid, resourceVersion } });
}

test('archives of Bundles that went while nobody was there are removed at the start', async () => {
  const { cleaner, removed } = setUp();
  await cleaner.run(new AbortController().signal);
  expect(removed).toEqual(['gone']);
});

test('an archive goes with its Bundle, whoever ran its finalizer', async () => {
  const { bundles, cleaner, removed } = setUp();
  await cleaner.run(new AbortController().signal);
  removed.length = 0;
  bundles.upsert(version('2'));
  expect(removed).toEqual([]);
  bundles.remove(version('3'));
  expect(removed).toEqual(['demo']);
});

test('an archive goes when the watch missed the end of its Bundle and shows a namesake', async () => {
  const { bundles, cleaner, removed } = setUp();
  await cleaner.run(new AbortController().signal);
  removed.length = 0;
  bundles.replace([version('9', 'uid-of-namesake')], '9');
  expect(removed).toEqual(['demo']);
});

test('an archive that cannot be removed stops nothing', async () => {
  const { bundles, store, leftovers, cleaner } = setUp();
  const error = new Error('EIO');
  store.delete.mockRejectedValue(error);
  await cleaner.run(new AbortController().signal);
  await cleaner.ready?.(new AbortController().signal);
  expect(leftovers).toEqual([error]);
  bundles.remove(version('2'));
  await eventually(() => expect(leftovers).toEqual([error, error]));
});

test('what a process was about to keep is kept before anything is removed', async () => {
  const { cleaner, kept, removed } = setUp();
  kept.resume.mockImplementation(async () => expect(removed).toEqual([]));
  await cleaner.run(new AbortController().signal);
  expect(kept.resume).toHaveBeenCalledTimes(1);
  expect(removed).toEqual(['gone']);
});

test('the archive of a Bundle that ends before all deployments are known waits for them: it may be installed', async () => {
  const { bundles, kept, cleaner, removed } = setUp();
  bundles.remove(version('2'));
  expect(removed).toEqual([]);
  kept.resume.mockImplementation(async () => expect(removed).toEqual([]));
  await cleaner.run(new AbortController().signal);
  expect(removed.at(0)).toBe('demo');
});

test('what is kept is looked at when a deployment changes, once all are known', async () => {
  const { deployments, kept, cleaner } = setUp();
  deployments.upsert(aStoredDeployment());
  expect(kept.collect).not.toHaveBeenCalled();
  await cleaner.run(new AbortController().signal);
  expect(kept.collect).toHaveBeenCalledTimes(1);
  deployments.remove(aStoredDeployment({ metadata: { resourceVersion: '2' } }));
  expect(kept.collect).toHaveBeenCalledTimes(2);
});

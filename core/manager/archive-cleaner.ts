import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { CacheChange } from '../runtime/indexed-cache.ts';
import type { Runnable } from '../runtime/manager.ts';
import type { DiskStore } from '../store/disk-store.ts';
import { collectGarbage } from '../store/garbage-collection.ts';
import type { OnLeftover } from '../store/temporary-files.ts';
import type { Kinds } from './kinds.ts';

/**
 * Removes archives of Bundles that are gone, at the start and from then on. Finalizers do so where
 * they run; they run in the leader, and Bundles may go while nobody is there.
 */
export function createArchiveCleaner(
  store: Pick<DiskStore, 'names' | 'delete'>,
  { bundles }: Pick<Kinds, 'bundles'>,
  onLeftover: OnLeftover,
): Runnable {
  bundles.onChange((change) => {
    if (!endsBundle(change)) return;
    const { name = '' } = change.object.metadata;
    store.delete(name).catch(onLeftover);
  });
  const collected = Promise.withResolvers<void>();
  return {
    name: 'archive garbage collection',
    ready: () => collected.promise,
    async run() {
      await collectGarbage(store, () => namesOf(bundles.list()), onLeftover);
      collected.resolve();
    },
  };
}

function namesOf(bundles: readonly Bundle[]): readonly string[] {
  return bundles.map(({ metadata: { name = '' } }) => name);
}

/** A namesake may come before the watch tells of the end. */
function endsBundle({ type, object, previous }: CacheChange<Bundle>): boolean {
  if (type === 'deleted') return true;
  return previous !== undefined && previous.metadata.uid !== object.metadata.uid;
}

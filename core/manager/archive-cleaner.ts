import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { CacheChange, Runnable } from '../platform/runtime/index.ts';
import {
  collectGarbage,
  type DiskStore,
  type KeptArchives,
  type OnLeftover,
} from '../store/index.ts';
import type { Kinds } from './kinds.ts';

export interface Archives {
  readonly store: Pick<DiskStore, 'names' | 'delete'>;
  readonly kept: Pick<KeptArchives, 'release' | 'collect' | 'resume'>;
}

/**
 * Removes archives of Bundles that are gone, at the start and from then on; what is installed is kept
 * until something else is. Finalizers do so where they run; they run in the leader, and Bundles may
 * go while nobody is there.
 */
export function createArchiveCleaner(
  { store, kept }: Archives,
  { bundles, deployments }: Pick<Kinds, 'bundles' | 'deployments'>,
  onLeftover: OnLeftover,
): Runnable {
  bundles.onChange((change) => {
    const ended = endedBundle(change);
    if (ended !== undefined) kept.release(ended).catch(onLeftover);
  });
  const collected = Promise.withResolvers<void>();
  return {
    name: 'archive garbage collection',
    ready: () => collected.promise,
    async run() {
      await kept.resume().catch(onLeftover);
      await collectGarbage(store, () => namesOf(bundles.list()), onLeftover);
      // Before, not all deployments may have been known.
      deployments.onChange(() => void kept.collect());
      await kept.collect();
      collected.resolve();
    },
  };
}

function namesOf(bundles: readonly Bundle[]): readonly string[] {
  return bundles.map(({ metadata: { name = '' } }) => name);
}

/** A namesake may come before the watch tells of the end. */
function endedBundle({ type, object, previous }: CacheChange<Bundle>): Bundle | undefined {
  if (type === 'deleted') return object;
  return previous?.metadata.uid === object.metadata.uid ? undefined : previous;
}

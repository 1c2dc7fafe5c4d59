import type { ContentRestorer } from '../bundle/index.ts';
import { WaitingError } from '../errors.ts';
import type { ServedBundles } from '../store/index.ts';
import type { Kinds } from './kinds.ts';

/** The Bundles that the watch cache holds: every replica serves all, whoever unpacked them. */
export function createServedBundles(
  kinds: Pick<Kinds, 'bundles' | 'checkSynced'>,
  restorer: Pick<ContentRestorer, 'canRestore' | 'restore'>,
): ServedBundles {
  return {
    uidOf(name) {
      checkSynced(kinds);
      return kinds.bundles.get({ name })?.metadata.uid;
    },
    async restore(name, signal) {
      const bundle = kinds.bundles.get({ name });
      if (bundle === undefined || !restorer.canRestore(bundle)) return false;
      await restorer.restore(bundle, signal);
      return true;
    },
  };
}

function checkSynced(kinds: Pick<Kinds, 'checkSynced'>): void {
  try {
    kinds.checkSynced();
  } catch (error) {
    throw new WaitingError('this process has not yet been told which Bundles there are', {
      cause: error,
    });
  }
}

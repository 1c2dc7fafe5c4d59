import { findBundle } from '../bundle/index.ts';
import type { ContentKey } from '../contracts/store.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { Runnable } from '../platform/runtime/index.ts';
import type { OnLeftover } from '../store/index.ts';
import type { Kinds } from './kinds.ts';

export interface UploadCollectorOptions {
  readonly store: Pick<UploadStore, 'collect'>;
  readonly client: Pick<KubeClient, 'get'>;
  readonly kinds: Pick<Kinds, 'bundles'>;
  /** Milliseconds between two looks. */
  readonly interval: number;
  readonly clock: Clock;
  readonly onLeftover: OnLeftover;
}

/** Removes uploads that no existing Bundle names, now and then. */
export function createUploadCollector(options: UploadCollectorOptions): Runnable {
  const { interval, clock, onLeftover } = options;
  // Where no Bundle takes uploads there are none, once what others left has been removed.
  let mayHaveSome = true;
  const collect = async (signal: AbortSignal): Promise<void> => {
    const known = uploadBundles(options.kinds);
    if (known.size === 0 && !mayHaveSome) return;
    await options.store.collect((key) => isWanted(key, known, { ...options, signal }), signal);
    mayHaveSome = known.size > 0;
  };
  return {
    name: 'upload garbage collection',
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(interval, signal).catch(() => undefined);
        if (signal.aborted) return;
        await collect(signal).catch(onLeftover);
      }
    },
  };
}

/** By UID. */
function uploadBundles({ bundles }: Pick<Kinds, 'bundles'>): ReadonlySet<string> {
  const ofType = bundles.list().filter(({ spec }) => spec.source.type === 'upload');
  return new Set(ofType.map(({ metadata }) => metadata.uid ?? ''));
}

/** The watch may be behind: a Bundle that it does not know is asked for. */
async function isWanted(
  { name, uid }: ContentKey,
  known: ReadonlySet<string>,
  { client, signal }: Pick<UploadCollectorOptions, 'client'> & { readonly signal: AbortSignal },
): Promise<boolean> {
  if (known.has(uid)) return true;
  // A Secret that only looks like an upload may name nobody.
  if (name === '') return false;
  return (await findBundle(client, name, signal))?.metadata.uid === uid;
}

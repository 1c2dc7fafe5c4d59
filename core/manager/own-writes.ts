import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';
import { keyOf } from '../platform/kube/index.ts';
import type { IndexedCache } from '../platform/runtime/index.ts';

/**
 * A cache for a reconciler that writes the status and finalizers of what it watches. The answers to
 * its writes go into the cache at once, and a listener can tell them from news: its own write is no
 * reason to reconcile again.
 */
export class OwnWrites<T extends KubernetesObject> {
  readonly #cache: IndexedCache<T>;
  #taking = false;

  constructor(cache: IndexedCache<T>) {
    this.#cache = cache;
  }

  /** Whether the change that a listener is being told of is an own write. */
  get taking(): boolean {
    return this.#taking;
  }

  get(key: { readonly name: string }): T | undefined {
    return this.#cache.get(key);
  }

  upsertIfNewer(object: T): void {
    // What others changed meanwhile comes with the answer; the watch will have nothing to add.
    this.#taking = isDeepStrictEqual(
      partOfOthers(this.#cache.get(keyOf(object))),
      partOfOthers(object),
    );
    try {
      this.#cache.upsertIfNewer(object);
    } finally {
      this.#taking = false;
    }
  }
}

/** What a status and finalizers are not. */
function partOfOthers(object: KubernetesObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { uid, generation, deletionTimestamp, labels, annotations } = object.metadata;
  return { uid, generation, deletionTimestamp, labels, annotations };
}

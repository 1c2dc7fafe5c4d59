import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient, Resource } from '../../core/platform/kube/index.ts';

/** The resources that one attempt reads, each as it was when it was read. */
export class Reads {
  readonly #feeds = new Map<ChangeFeed, number>();

  get isEmpty(): boolean {
    return this.#feeds.size === 0;
  }

  note(feed: ChangeFeed): void {
    if (!this.#feeds.has(feed)) this.#feeds.set(feed, feed.changes);
  }

  /** Resolves when something that was read has changed since, or the time (milliseconds) is over. */
  async changed(within: number): Promise<void> {
    const over = new AbortController();
    const changes = [...this.#feeds].map(([feed, seen]) => feed.changedSince(seen, over.signal));
    await Promise.race([...changes, delay(within, undefined, over).catch(() => undefined)]);
    over.abort();
  }
}

const reads = new AsyncLocalStorage<Reads>();

/** Calls something, and notes what it reads of the cluster. */
export async function noting<T>(into: Reads, call: () => T | Promise<T>): Promise<T> {
  return await reads.run(into, call);
}

/** Says that objects of this feed are read now. */
export function noteRead(feed: () => ChangeFeed): void {
  reads.getStore()?.note(feed());
}

/** How long a watch stays open before it is opened again (seconds). */
const watchTimeout = 1_800;
const reopenPause = 500;

/** Counts the changes of a resource's objects, in all namespaces. */
export class ChangeFeed {
  changes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(client: KubeClient, resource: Resource, signal: AbortSignal) {
    void this.#follow(client, resource, signal);
  }

  async changedSince(seen: number, signal: AbortSignal): Promise<void> {
    if (this.changes !== seen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }

  async #follow(client: KubeClient, resource: Resource, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        // Watches from now, with an event for each existing object, so that a recent reader reads
        // again.
        const options = { resourceVersion: '', timeoutSeconds: watchTimeout, signal };
        for await (const { type } of client.watch(resource, { ...options, metadataOnly: true })) {
          if (type !== 'BOOKMARK') this.#count();
        }
      } catch {
        // The kind was removed, or the server is unavailable: waiting attempts retry after a while.
      }
      await delay(reopenPause, undefined, { signal }).catch(() => undefined);
      this.#count();
    }
  }

  #count(): void {
    this.changes += 1;
    for (const tell of this.#waiting) tell();
  }
}

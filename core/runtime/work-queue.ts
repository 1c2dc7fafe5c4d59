import type { Clock } from '../clock.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Longer delays overflow the timer and would fire at once. */
const longestTimer = 2 ** 31 - 1;

interface Waiter {
  readonly give: (key: string | undefined) => void;
}

interface Delayed {
  readonly at: number;
  readonly timer: AbortController;
}

/**
 * Keys to be worked on. A key waits at most once, and is never handed out while it is worked on:
 * added meanwhile, it waits again after `done`. Nothing added is lost.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #onAdd: () => void;
  /** Key → when it was added; insertion order is working order. */
  readonly #waiting = new Map<string, number>();
  /** Key → how long it waited before it was handed out. */
  readonly #working = new Map<string, number>();
  /** Added while worked on. */
  readonly #again = new Map<string, number>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #waiters = new Set<Waiter>();
  #shutDown = false;

  /** `onAdd` is called for each key that waits from now on, and not for one that waits already. */
  constructor(
    clock: Clock,
    {
      limiter = new RateLimiter(clock),
      onAdd = () => undefined,
    }: { readonly limiter?: RateLimiter; readonly onAdd?: () => void } = {},
  ) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#onAdd = onAdd;
  }

  /** Keys ready to be handed out. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Milliseconds for which the first ready key has been waiting; 0 where none is. */
  get oldestAge(): number {
    for (const addedAt of this.#waiting.values()) return this.#clock.monotonic() - addedAt;
    return 0;
  }

  /** Milliseconds for which a key that is worked on waited before. */
  waited(key: string): number {
    return this.#working.get(key) ?? 0;
  }

  add(key: string): void {
    if (this.#shutDown || this.#waiting.has(key)) return;
    const now = this.#clock.monotonic();
    if (this.#again.has(key)) return;
    this.#onAdd();
    if (this.#working.has(key)) {
      this.#again.set(key, now);
      return;
    }
    this.#waiting.set(key, now);
    this.#handOut();
  }

  /** Adds after `ms` milliseconds; of several such adds the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#shutDown) return;
    if (!(ms > 0)) {
      this.add(key);
      return;
    }
    const delay = Math.min(ms, longestTimer);
    const at = this.#clock.monotonic() + delay;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.at <= at) return;
    earlier?.timer.abort();
    const timer = new AbortController();
    this.#delayed.set(key, { at, timer });
    void this.#addLater(key, delay, timer);
  }

  /** Adds after the back-off that the key's failures so far have earned. */
  addRateLimited(key: string): void {
    this.addAfter(key, this.#limiter.next(key));
  }

  /** The same for a key that waits for something outside, which takes its time. */
  addWaiting(key: string): void {
    this.addAfter(key, this.#limiter.nextWaiting(key));
  }

  /** The key's failures no longer count. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  /** Failures of the key since it was last forgotten. */
  retries(key: string): number {
    return this.#limiter.retries(key);
  }

  /** The next key; undefined once the signal is aborted or the queue is shut down. */
  async get(signal: AbortSignal): Promise<string | undefined> {
    if (this.#shutDown || signal.aborted) return undefined;
    return await new Promise((resolve) => {
      const stop = (): void => waiter.give(undefined);
      const waiter: Waiter = {
        give: (key) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', stop);
          resolve(key);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', stop, { once: true });
      this.#handOut();
    });
  }

  /** The worker that got the key is done with it, well or not. */
  done(key: string): void {
    this.#working.delete(key);
    const addedAt = this.#again.get(key);
    if (addedAt === undefined) return;
    this.#again.delete(key);
    this.#waiting.set(key, addedAt);
    this.#handOut();
  }

  /** Hands out nothing more; delayed keys are dropped. */
  shutDown(): void {
    this.#shutDown = true;
    for (const { timer } of this.#delayed.values()) timer.abort();
    this.#delayed.clear();
    for (const waiter of this.#waiters) waiter.give(undefined);
  }

  async #addLater(key: string, ms: number, timer: AbortController): Promise<void> {
    try {
      await this.#clock.sleep(ms, timer.signal);
    } catch {
      return;
    }
    if (this.#delayed.get(key)?.timer !== timer) return;
    this.#delayed.delete(key);
    this.add(key);
  }

  #handOut(): void {
    if (this.#shutDown) return;
    for (const waiter of this.#waiters) {
      const next = this.#waiting.entries().next();
      if (next.done) return;
      const [key, addedAt] = next.value;
      this.#waiting.delete(key);
      this.#working.set(key, this.#clock.monotonic() - addedAt);
      waiter.give(key);
    }
  }
}

import type { Clock } from '../../clock.ts';
import { type Claim, type Precedence, precedenceOf } from './claims.ts';
import { FairQueue } from './fair-queue.ts';
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

interface WorkQueueOptions {
  readonly limiter?: RateLimiter;
  /** Called for each newly waiting key. */
  readonly onAdd?: () => void;
  /** Maximum number of concurrent keys (default: no limit). */
  readonly places?: number;
  /** Creator and precedence of a key (default: all equal). */
  readonly claimOf?: (key: string) => Claim;
  /** Creator whose failures share a limit (default: that of the claim). */
  readonly creatorOf?: (key: string) => string;
}

/** One place is reserved for urgent keys, so that they never wait for slow first installs. */
const urgentPlaces = 1;

const alike: Claim = { creator: '' };

/**
 * A queue of keys. A key waits at most once, and is never handed out while it is worked on: a key
 * added meanwhile waits again after `done`. No key is lost.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #onAdd: () => void;
  readonly #claimOf: (key: string) => Claim;
  readonly #creatorOf: (key: string) => string;
  readonly #order: FairQueue<string>;
  /** Key → when it was added, the oldest first. */
  readonly #waiting = new Map<string, number>();
  /** Key → how long it waited before it was handed out. */
  readonly #working = new Map<string, number>();
  /** Keys that were added while they are worked on. */
  readonly #again = new Map<string, { readonly at: number; readonly claim: Claim }>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #waiters = new Set<Waiter>();
  #shutDown = false;

  constructor(clock: Clock, options: WorkQueueOptions = {}) {
    const { places = Number.POSITIVE_INFINITY, claimOf } = options;
    this.#clock = clock;
    this.#limiter = options.limiter ?? new RateLimiter(clock);
    this.#onAdd = options.onAdd ?? (() => undefined);
    this.#claimOf = claimOf ?? (() => alike);
    this.#creatorOf = options.creatorOf ?? ((key) => this.#claimOf(key).creator);
    const isShared = claimOf !== undefined;
    this.#order = new FairQueue({
      places,
      keepsNone: !isShared,
      urgentPlaces: isShared ? urgentPlaces : 0,
    });
  }

  /** Number of keys that are ready. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Milliseconds for which the first ready key has been waiting; 0 without one. */
  get oldestAge(): number {
    for (const addedAt of this.#waiting.values()) return this.#clock.monotonic() - addedAt;
    return 0;
  }

  /** Milliseconds for which a key in progress has waited before. */
  waited(key: string): number {
    return this.#working.get(key) ?? 0;
  }

  /**
   * Adds a key; a key that waits already may get a higher precedence: that of its claim, or the
   * given one.
   */
  add(key: string, precedence?: Precedence): void {
    if (this.#shutDown) return;
    const claim = { ...this.#claimOf(key), ...(precedence === undefined ? {} : { precedence }) };
    if (this.#working.has(key)) return this.#addAgain(key, claim);
    if (!this.#waiting.has(key)) {
      this.#onAdd();
      this.#waiting.set(key, this.#clock.monotonic());
    }
    this.#order.add(key, claim);
    this.#handOut();
  }

  /** Adds a key after `ms` milliseconds; the earliest of several such adds counts. */
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

  /** Adds a key after the back-off for its failures. */
  addRateLimited(key: string): void {
    this.addAfter(key, this.#limiter.next(key, this.#creatorOf(key)));
  }

  /** The same for a key that waits for something outside of core, which takes longer. */
  addWaiting(key: string): void {
    this.addAfter(key, this.#limiter.nextWaiting(key));
  }

  /** Resets the key's failures. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  /** Failures of the key since the last `forget`. */
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

  /** Frees the place of a key that a separate worker handles. */
  leave(key: string): void {
    this.#order.release(key);
    this.#handOut();
  }

  /** The worker has finished with the key, successfully or not. */
  done(key: string): void {
    this.#working.delete(key);
    this.#order.release(key);
    const again = this.#again.get(key);
    if (again !== undefined) {
      this.#again.delete(key);
      this.#waiting.set(key, again.at);
      this.#order.add(key, again.claim);
    }
    this.#handOut();
  }

  /** Hands out no more keys; drops delayed ones. */
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

  #addAgain(key: string, claim: Claim): void {
    const before = this.#again.get(key);
    if (before === undefined) this.#onAdd();
    const { at, claim: old } = before ?? { at: this.#clock.monotonic(), claim };
    this.#again.set(key, { at, claim: isSooner(old, claim) ? old : claim });
  }

  #handOut(): void {
    if (this.#shutDown) return;
    for (const waiter of this.#waiters) {
      const key = this.#order.next();
      if (key === undefined) return;
      const addedAt = this.#waiting.get(key) ?? this.#clock.monotonic();
      this.#waiting.delete(key);
      this.#working.set(key, this.#clock.monotonic() - addedAt);
      waiter.give(key);
    }
  }
}

function isSooner(a: Claim, b: Claim): boolean {
  return precedenceOf(a) <= precedenceOf(b);
}

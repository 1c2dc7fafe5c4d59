import type { Clock } from '../../clock.ts';

const firstDelay = 5;
const firstWaitingDelay = 1_000;
const longestDelay = 1_000_000;
/** Milliseconds between two retries of a creator. */
const interval = 100;
const burst = 100;

/**
 * Back-off of failed keys: per key 5 ms doubling to 1000 s, and for all keys of a creator together
 * 10 a second after a burst of 100; the later of the two.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #failures = new Map<string, number>();
  /** Creator → when the next token of its bucket is due; in the past while tokens are left. */
  readonly #nextTokens = new Map<string, number>();
  #forgottenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the key's next attempt; counts one more failure. */
  next(key: string, creator = ''): number {
    return Math.max(this.#delay(key, firstDelay), this.#takeToken(creator));
  }

  /**
   * The same for a key that waits for something outside of core: from 1 s on, and without the limit
   * on all keys of a creator, so that the many Bundles of one unavailable server never delay the
   * retries of others.
   */
  nextWaiting(key: string): number {
    return this.#delay(key, firstWaitingDelay);
  }

  /** The key succeeded: its next failure has the shortest back-off again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Failures since the last `forget`. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  #delay(key: string, first: number): number {
    const failures = this.retries(key);
    this.#failures.set(key, failures + 1);
    return Math.min(first * 2 ** failures, longestDelay);
  }

  #takeToken(creator: string): number {
    const now = this.#clock.monotonic();
    const whole = now - (burst - 1) * interval;
    const due = Math.max(this.#nextTokens.get(creator) ?? whole, whole);
    if (this.#forgottenAt < whole) this.#forgetWhole(now, whole);
    this.#nextTokens.set(creator, due + interval);
    return Math.max(0, due - now);
  }

  /** Forgets creators whose burst is whole again. */
  #forgetWhole(now: number, whole: number): void {
    this.#forgottenAt = now;
    for (const [creator, due] of this.#nextTokens) {
      if (due <= whole) this.#nextTokens.delete(creator);
    }
  }
}

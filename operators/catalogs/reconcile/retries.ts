import type { CatalogFailure } from '../source/catalog-failure.ts';

interface Attempt {
  readonly generation: number | undefined;
  readonly failure: CatalogFailure;
  readonly count: number;
  /** Milliseconds of the monotonic clock. */
  readonly retryAt: number;
  readonly brokenUntil: number;
}

/** Milliseconds. */
const firstDelay = 1000;
const longestDelay = 5 * 60_000;
/** Content of a digest stays as it is; only limits of time and memory may be met the next time. */
const brokenDelay = 60 * 60_000;

/** The failures of catalogs since their last success, and when each is tried again. */
export class Retries {
  readonly #attempts = new Map<string, Attempt>();
  readonly #now: () => number;

  /** @param now the monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Milliseconds until the next try of this generation; undefined if nothing has failed, Infinity if
   * only another spec helps.
   */
  remaining(name: string, generation: number | undefined): number | undefined {
    const attempt = this.#attempts.get(name);
    if (attempt === undefined || attempt.generation !== generation) return undefined;
    return Math.max(0, attempt.retryAt - this.#now());
  }

  /** The failure of an image that need not be downloaded again yet. */
  brokenImage(name: string, resolvedRef: string): CatalogFailure | undefined {
    const attempt = this.#attempts.get(name);
    const isKnown = attempt?.failure.brokenRef === resolvedRef && this.#now() < attempt.brokenUntil;
    return isKnown ? attempt.failure : undefined;
  }

  /** Notes a failure, and returns the milliseconds until the next try as `remaining` does. */
  failed(name: string, generation: number | undefined, failure: CatalogFailure): number {
    const before = this.#attempts.get(name);
    const isSame = before !== undefined && before.generation === generation;
    const count = isSame ? before.count + 1 : 0;
    const delay = failure.isFinal
      ? Number.POSITIVE_INFINITY
      : Math.min(firstDelay * 2 ** count, longestDelay) * (1 + Math.random() / 10);
    const now = this.#now();
    const brokenUntil = before?.failure === failure ? before.brokenUntil : now + brokenDelay;
    const attempt = { generation, failure, count, retryAt: now + delay, brokenUntil };
    this.#attempts.set(name, attempt);
    return delay;
  }

  succeeded(name: string): void {
    this.#attempts.delete(name);
  }
}

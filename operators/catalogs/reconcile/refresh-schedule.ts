import type { Clock } from '../../../core/controller.ts';
import type { CatalogRequest } from '../kinds/catalog-kind.ts';
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

/** Share of the interval that is added at random, as upstream does: catalogs are not polled at once. */
const jitter = 0.01;
/** Milliseconds: each poll writes its time. */
const shortestInterval = 1000;

/** When the image of each catalog is looked at: polls of tags, and retries after failures. */
export class RefreshSchedule {
  readonly #attempts = new Map<string, Attempt>();
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Spreads the polls of this process's catalogs. */
  readonly #chance = Math.random();

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Milliseconds until the next poll; undefined for none. A poll that was due while no process ran is
   * due now.
   */
  untilPoll({
    pollInterval: wanted,
    remembered: { polledAt },
  }: Pick<CatalogRequest, 'pollInterval' | 'remembered'>): number | undefined {
    if (wanted === undefined) return undefined;
    const now = this.#clock.now();
    // A clock that was set back, or a forged status, does not put polls off.
    if (polledAt === undefined || polledAt > now) return 0;
    const pollInterval = Math.max(wanted, shortestInterval);
    return Math.max(0, polledAt + pollInterval * (1 + jitter * this.#chance) - now);
  }

  /**
   * Milliseconds until the next try of this generation; undefined if nothing has failed, Infinity if
   * only another spec helps.
   */
  untilRetry(name: string, generation: number | undefined): number | undefined {
    const attempt = this.#attempts.get(name);
    if (attempt === undefined || attempt.generation !== generation) return undefined;
    return Math.max(0, attempt.retryAt - this.#clock.monotonic());
  }

  /** The failure of an image that need not be downloaded again yet. */
  brokenImage(name: string, resolvedRef: string): CatalogFailure | undefined {
    const attempt = this.#attempts.get(name);
    const isKnown =
      attempt?.failure.brokenRef === resolvedRef && this.#clock.monotonic() < attempt.brokenUntil;
    return isKnown ? attempt.failure : undefined;
  }

  /** Notes a failure, and returns the milliseconds until the next try as `untilRetry` does. */
  failed(name: string, generation: number | undefined, failure: CatalogFailure): number {
    const before = this.#attempts.get(name);
    const isSame = before !== undefined && before.generation === generation;
    const count = isSame ? before.count + 1 : 0;
    const delay = failure.isFinal
      ? Number.POSITIVE_INFINITY
      : Math.min(firstDelay * 2 ** count, longestDelay) * (1 + Math.random() / 10);
    const now = this.#clock.monotonic();
    const brokenUntil = before?.failure === failure ? before.brokenUntil : now + brokenDelay;
    const attempt = { generation, failure, count, retryAt: now + delay, brokenUntil };
    this.#attempts.set(name, attempt);
    return delay;
  }

  succeeded(name: string): void {
    this.#attempts.delete(name);
  }
}

import type { Clock } from '../../platform/clock.ts';

const immediateRepairs = 3;
const firstPause = 1000;
const longestPause = 5 * 60_000;
/** Milliseconds without a repair after which counting starts again. */
const quietPeriod = 10 * 60_000;

interface Repairs {
  count: number;
  last: number;
}

/**
 * Keeps the engine from fighting another controller at full speed: the first three repairs of an
 * object are immediate, then each waits twice as long as the one before, up to five minutes.
 */
export class RepairBackoff {
  readonly #clock: Clock;
  readonly #repairs = new Map<string, Repairs>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a repair; true for the one after which pauses begin. */
  repaired(id: string): boolean {
    const now = this.#clock.monotonic();
    const known = this.#repairs.get(id);
    const count = known === undefined || now - known.last > quietPeriod ? 1 : known.count + 1;
    this.#repairs.set(id, { count, last: now });
    return count === immediateRepairs;
  }

  /** Milliseconds until the next repair of an object is due; 0 when core may repair it now. */
  pause(id: string): number {
    const known = this.#repairs.get(id);
    if (known === undefined || known.count < immediateRepairs) return 0;
    const length = Math.min(firstPause * 2 ** (known.count - immediateRepairs), longestPause);
    return Math.max(0, known.last + length - this.#clock.monotonic());
  }

  forget(id: string): void {
    this.#repairs.delete(id);
  }
}

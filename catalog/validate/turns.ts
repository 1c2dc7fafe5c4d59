import { setImmediate as othersTurn } from 'node:timers/promises';

/** Milliseconds of work after which others get a turn of the event loop. */
const mostWork = 10;

/** Splits long work, so that the process answers requests meanwhile. */
export class Turns {
  #since = performance.now();

  /** Whether the work has taken long enough for `give`: most pieces need not wait. */
  get isDue(): boolean {
    return performance.now() - this.#since >= mostWork;
  }

  /** Resolves when others have had their turn. */
  async give(): Promise<void> {
    await othersTurn();
    this.#since = performance.now();
  }
}

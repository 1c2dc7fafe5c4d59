import { setImmediate as othersTurn } from 'node:timers/promises';

/** Milliseconds. */
const longestTurn = 10;

/** Splits long work into turns of the event loop, so that the process answers requests meanwhile. */
export class Turns {
  #since = performance.now();

  /** Whether this turn has been long enough for `give`: most pieces of work need not wait. */
  get isDue(): boolean {
    return performance.now() - this.#since >= longestTurn;
  }

  /** Ends this turn; resolves when others have had theirs. */
  async give(): Promise<void> {
    await othersTurn();
    this.#since = performance.now();
  }
}

import { setImmediate as othersTurn } from 'node:timers/promises';
import { FairSemaphore } from '../../core/platform/runtime/index.ts';

/** Maximum number of CRDs whose custom resources are read at a time, each with one page in memory. */
const places = 3;
/** Milliseconds of processor time after which the check of another client's CRD goes on. */
const longestTurn = 1_000;
/** Milliseconds of processor time for one check; the API server waits for 30 s at most. */
const defaultLimit = 20_000;

/** A check that takes more processor time than it may. */
export class ProcessorTimeExceeded extends Error {
  override readonly name = 'ProcessorTimeExceeded';
}

/**
 * Shares memory and processor among checks of CRDs. One client has two places at most and the
 * processor in turns with others: whoever reaches the webhooks can have a schema checked that is
 * slow on purpose.
 */
export class CheckTurns {
  readonly #places = new FairSemaphore({ places });
  readonly #processor = new FairSemaphore({ places: 1 });
  readonly #limit: number;

  constructor(limit = defaultLimit) {
    this.#limit = limit;
  }

  /**
   * Runs the check of a client when there is a place for it.
   * @throws the signal's reason when it is aborted while the check waits.
   */
  async run<T>(
    client: string,
    check: (processor: ProcessorTurns) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const leave = await this.#places.take({ creator: client }, signal);
    try {
      return await check(new ProcessorTurns(this.#processor, { client, limit: this.#limit }));
    } finally {
      leave();
    }
  }
}

/** The processor for one check. */
export class ProcessorTurns {
  readonly #processor: FairSemaphore;
  readonly #client: string;
  readonly #limit: number;
  #used = 0;

  constructor(
    processor: FairSemaphore,
    { client, limit }: { readonly client: string; readonly limit: number },
  ) {
    this.#processor = processor;
    this.#client = client;
    this.#limit = limit;
  }

  /**
   * Calls `visit` with each item until it returns true, and other requests run between; resolves to
   * whether it did.
   * @throws ProcessorTimeExceeded when the check has used its time.
   */
  async visit<T>(
    items: readonly T[],
    visit: (item: T) => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    let leave = await this.#take(signal);
    let turn = 0;
    try {
      for (const item of items) {
        if (turn > longestTurn) {
          leave();
          leave = await this.#take(signal);
          turn = 0;
        }
        await othersTurn(undefined, { signal });
        const { isFound, used } = measured(() => visit(item));
        if (isFound) return true;
        turn += used;
        this.#charge(used);
      }
      return false;
    } finally {
      leave();
    }
  }

  async #take(signal: AbortSignal): Promise<() => void> {
    return await this.#processor.take({ creator: this.#client }, signal);
  }

  #charge(used: number): void {
    this.#used += used;
    if (this.#used <= this.#limit) return;
    throw new ProcessorTimeExceeded(
      `its custom resources could not all be checked within ${this.#limit / 1_000} s of processor time; set the annotation`,
    );
  }
}

/** With the milliseconds of processor time that it took. */
function measured(visit: () => boolean): { readonly isFound: boolean; readonly used: number } {
  const before = process.threadCpuUsage();
  const isFound = visit();
  const { user, system } = process.threadCpuUsage(before);
  return { isFound, used: (user + system) / 1_000 };
}

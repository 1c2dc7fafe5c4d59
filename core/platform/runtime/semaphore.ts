import { type Claim, FairQueue, type FairQueueOptions } from './fair-queue.ts';

interface Ticket {
  readonly turn: PromiseWithResolvers<void>;
}

/** Lets a bounded number of tasks run at once; of those who wait, creators are served by turns. */
export class FairSemaphore {
  readonly #queue: FairQueue<Ticket>;

  constructor(options: FairQueueOptions) {
    this.#queue = new FairQueue(options);
  }

  /** Creators that have a place or wait for one. */
  get creators(): number {
    return this.#queue.creators;
  }

  /**
   * Waits for a place; the function that it resolves to gives it back, at its first call.
   * @throws the signal's reason where it is aborted before.
   */
  async take(claim: Claim, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const ticket = { turn: Promise.withResolvers<void>() };
    this.#queue.add(ticket, claim);
    this.#grant();
    const giveUp = (): void => {
      // Whoever has been given a turn already must take it, or it would be lost.
      if (this.#queue.delete(ticket)) ticket.turn.reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await ticket.turn.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return () => {
      this.#queue.release(ticket);
      this.#grant();
    };
  }

  #grant(): void {
    for (;;) {
      const ticket = this.#queue.next();
      if (ticket === undefined) return;
      ticket.turn.resolve();
    }
  }
}

const anybody: Claim = { creator: '' };

/** Lets a bounded number of tasks run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #places: FairSemaphore;

  constructor(places: number) {
    this.#places = new FairSemaphore({ places, keepsNone: true });
  }

  /**
   * Runs the task once there is room for it.
   * @throws the signal's reason where it is aborted while the task waits.
   */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.take(signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /** As FairSemaphore's. */
  async take(signal: AbortSignal): Promise<() => void> {
    return await this.#places.take(anybody, signal);
  }
}

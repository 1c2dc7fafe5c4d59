import type { Claim } from './claims.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

interface Ticket {
  readonly turn: PromiseWithResolvers<void>;
}

/** Limits the number of concurrent tasks; waiting creators take turns. */
export class FairSemaphore {
  readonly #queue: FairQueue<Ticket>;

  constructor(options: FairQueueOptions) {
    this.#queue = new FairQueue(options);
  }

  /** Number of creators that have a place or wait for one. */
  get creators(): number {
    return this.#queue.creators;
  }

  /**
   * Waits for a place; resolves to a function whose first call releases it.
   * @throws the signal's reason when it is aborted first.
   */
  async take(claim: Claim, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const ticket = { turn: Promise.withResolvers<void>() };
    this.#queue.add(ticket, claim);
    this.#grant();
    const giveUp = (): void => {
      // A ticket with an assigned place must take it, because the place would be lost.
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

/** Limits the number of concurrent tasks; the others wait in the order of arrival. */
export class Semaphore {
  readonly #places: FairSemaphore;

  constructor(places: number) {
    this.#places = new FairSemaphore({ places, keepsNone: true });
  }

  /**
   * Runs the task when there is a place for it.
   * @throws the signal's reason when it is aborted while the task waits.
   */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.take(signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /** As in FairSemaphore. */
  async take(signal: AbortSignal): Promise<() => void> {
    return await this.#places.take(anybody, signal);
  }
}

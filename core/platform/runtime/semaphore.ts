/** Lets a bounded number of tasks run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(size: number) {
    this.#free = size;
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

  /**
   * Waits for room; the function that it resolves to gives it back, at its first call.
   * @throws the signal's reason where it is aborted before.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let taken = true;
    return () => {
      if (taken) this.#pass();
      taken = false;
    };
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const giveUp = (): void => {
      // Whoever has been given a turn already must take it, or it would be lost.
      if (this.#waiting.delete(turn.resolve)) turn.reject(signal.reason);
    };
    this.#waiting.add(turn.resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

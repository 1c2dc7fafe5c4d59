interface Running<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Runs the same work once for all concurrent callers. */
export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>();

  /**
   * The result of the running work with this key, else of `work`. The signal only ends the caller's
   * wait; the work is aborted when its last caller has left.
   */
  async run(
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const running = this.#running.get(key) ?? this.#start(key, work);
    running.waiting += 1;
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([running.result, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
      running.waiting -= 1;
      if (running.waiting === 0) this.#stop(key, running, signal.reason);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController();
    const running = { result: work(controller.signal), controller, waiting: 0 };
    // Callers that wait receive the error; after the last one has left, it does not matter.
    running.result.catch(() => undefined);
    this.#running.set(key, running);
    return running;
  }

  /** The next caller starts again: results are not cached. */
  #stop(key: string, running: Running<T>, reason: unknown): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
    running.controller.abort(reason);
  }
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Does the same work once for all who ask for it at the same time. */
export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>();

  /**
   * The result of the work under way with this key, else of `work`. Aborting the signal ends the
   * caller's waiting; the work itself is aborted when nobody waits for it any more.
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
    // Those who wait hear of it; when nobody does any more, nobody needs to.
    running.result.catch(() => undefined);
    this.#running.set(key, running);
    return running;
  }

  /** Whoever comes next starts anew: content is not kept. */
  #stop(key: string, running: Running<T>, reason: unknown): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
    running.controller.abort(reason);
  }
}

/**
 * Maps up to `limit` items at a time and yields the results in the order of the items, each as soon
 * as it and all before it are done. Reads the source no further ahead, so that a slow consumer
 * slows it down. `map` must not reject.
 */
export async function* mapInOrder<In, Out>(
  source: AsyncIterable<In>,
  limit: number,
  map: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, void> {
  const pending: Promise<Out>[] = [];
  const changed = new Signal();
  const state = { ended: false, stopped: false };
  const reading = readAll();
  // Awaited at the end of the items; a source that fails earlier must not end the process.
  reading.catch(() => undefined);
  try {
    for (;;) {
      const head = pending[0];
      if (head !== undefined) {
        yield await head;
        void pending.shift();
        changed.notify();
      } else if (state.ended) {
        await reading;
        return;
      } else {
        await changed.next();
      }
    }
  } finally {
    state.stopped = true;
    changed.notify();
  }

  async function readAll(): Promise<void> {
    try {
      for await (const item of source) {
        pending.push(map(item));
        changed.notify();
        while (pending.length >= limit && !state.stopped) await changed.next();
        if (state.stopped) return;
      }
    } finally {
      state.ended = true;
      changed.notify();
    }
  }
}

/** Wakes every waiter at the next change. */
class Signal {
  #next = Promise.withResolvers<void>();

  next(): Promise<void> {
    return this.#next.promise;
  }

  notify(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}

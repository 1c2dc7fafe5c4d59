/** Limits the number of concurrent operations per host; further ones wait for their turn. */
export class HostLimits {
  readonly #perHost: number;
  readonly #hosts = new Map<string, Host>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Runs work that occupies a slot of each of the hosts. */
  async run<T>(hosts: readonly string[], work: () => Promise<T>): Promise<T> {
    // The same order for all callers prevents deadlocks.
    const needed = [...new Set(hosts)].toSorted();
    const taken: Host[] = [];
    try {
      for (const name of needed) taken.push(await this.#take(name));
      return await work();
    } finally {
      for (const host of taken) release(host);
    }
  }

  async #take(name: string): Promise<Host> {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = { free: this.#perHost, waiting: [] };
      this.#hosts.set(name, host);
    }
    if (host.free > 0) host.free -= 1;
    else {
      const turn = Promise.withResolvers<void>();
      host.waiting.push(turn.resolve);
      await turn.promise;
    }
    return host;
  }
}

interface Host {
  free: number;
  readonly waiting: (() => void)[];
}

/** Passes the slot to the operation that has waited longest. */
function release(host: Host): void {
  const next = host.waiting.shift();
  if (next === undefined) host.free += 1;
  else next();
}

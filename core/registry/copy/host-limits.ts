/** Lets only so many pieces of work at a host run at once; others wait their turn. */
export class HostLimits {
  readonly #perHost: number;
  readonly #hosts = new Map<string, Host>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Runs work that needs a turn at each of the hosts. */
  async run<T>(hosts: readonly string[], work: () => Promise<T>): Promise<T> {
    // In one order for all, so that no two wait for each other.
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

/** A turn goes to who waits the longest. */
function release(host: Host): void {
  const next = host.waiting.shift();
  if (next === undefined) host.free += 1;
  else next();
}

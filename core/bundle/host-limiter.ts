import { Semaphore } from '../runtime/semaphore.ts';

interface Host {
  readonly places: Semaphore;
  /** Those who have a place, and those who wait for one. */
  guests: number;
}

/** Bounds how many fetches one host has at once, so that a stalled one holds up its own only. */
export class HostLimiter {
  readonly #perHost: number;
  readonly #hosts = new Map<string, Host>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Hosts that somebody fetches from or waits for. */
  get size(): number {
    return this.#hosts.size;
  }

  /**
   * Waits for a place, in the order in which others came; the function that it resolves to gives it
   * back.
   * @throws the signal's reason where it is aborted before.
   */
  async take(name: string, signal: AbortSignal): Promise<() => void> {
    const host = this.#enter(name);
    try {
      const leave = await host.places.take(signal);
      let taken = true;
      return () => {
        leave();
        if (taken) this.#leave(name, host);
        taken = false;
      };
    } catch (error) {
      this.#leave(name, host);
      throw error;
    }
  }

  #enter(name: string): Host {
    const host = this.#hosts.get(name) ?? { places: new Semaphore(this.#perHost), guests: 0 };
    this.#hosts.set(name, host);
    host.guests += 1;
    return host;
  }

  #leave(name: string, host: Host): void {
    host.guests -= 1;
    if (host.guests === 0) this.#hosts.delete(name);
  }
}

import { HttpProblem } from './http-problem.ts';

/**
 * What bodies may hold at once, in bytes. One that is judged takes about four times its size, and
 * the API server's largest update has 8 MiB.
 */
const maxBytes = 48 * 1024 * 1024;
const maxBytesOfClient = 32 * 1024 * 1024;

/** Bytes of bodies over all connections, so that clients together cannot fill the memory. */
export class BodyBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** Begins to count for a client, such as its address. */
  open(client: string): BodyReservation {
    let reserved = 0;
    return {
      upTo: (bytes) => {
        if (bytes <= reserved) return;
        this.#take(client, bytes - reserved);
        reserved = bytes;
      },
      close: () => {
        this.#give(client, reserved);
        reserved = 0;
      },
    };
  }

  #take(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) + bytes;
    if (held > maxBytesOfClient) {
      throw new HttpProblem(
        503,
        `requests from ${client} hold ${maxBytesOfClient} bytes already: wait until one has ended`,
      );
    }
    if (this.#total + bytes > maxBytes) {
      throw new HttpProblem(503, `requests hold ${maxBytes} bytes already: try again`);
    }
    this.#held.set(client, held);
    this.#total += bytes;
  }

  #give(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) - bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
    this.#total -= bytes;
  }
}

/** What one body has of the budget. */
export interface BodyReservation {
  /**
   * Reserves so many bytes in all.
   * @throws HttpProblem 503 where there is no room for them.
   */
  upTo(bytes: number): void;
  /** Gives all back. */
  close(): void;
}

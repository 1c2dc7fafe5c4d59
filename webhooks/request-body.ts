import type { IncomingMessage } from 'node:http';
import type { Clock } from '../core/platform/clock.ts';

/** A request that is answered with an HTTP status and one sentence. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An update carries the old and the new object, each up to the API server's 3 MiB. */
const maxBodyBytes = 8 * 1024 * 1024;
/** From the headers to the last byte, in milliseconds; the API server sends at once. */
const maxBodyTime = 5_000;

/**
 * The body as text, held against a reservation, which is the caller's to close.
 * @throws HttpProblem where it is too large, late, cut off, or not UTF-8.
 */
export async function readBody(
  request: IncomingMessage,
  { reservation, clock }: { readonly reservation: BodyReservation; readonly clock: Clock },
): Promise<string> {
  const ended = new AbortController();
  const late = clock.sleep(maxBodyTime, ended.signal).then(() => {
    throw new HttpProblem(408, `the body did not come within ${maxBodyTime / 1000} s`);
  });
  try {
    return decode(await Promise.race([collect(request, reservation, ended.signal), late]));
  } finally {
    ended.abort();
    late.catch(() => undefined);
  }
}

async function collect(
  request: IncomingMessage,
  reservation: BodyReservation,
  ended: AbortSignal,
): Promise<Buffer> {
  reserve(reservation, Number(request.headers['content-length'] ?? 0));
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The iterator must not destroy the connection: the refusal is still to be sent on it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    // Nobody waits for it any more.
    if (ended.aborted) break;
    const buffer = chunk as Buffer;
    bytes += buffer.length;
    reserve(reservation, bytes);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks, bytes);
}

function reserve(reservation: BodyReservation, bytes: number): void {
  if (bytes > maxBodyBytes) {
    throw new HttpProblem(413, `the body is larger than ${maxBodyBytes} bytes`);
  }
  reservation.upTo(bytes);
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpProblem(400, 'the body is not UTF-8');
  }
}

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

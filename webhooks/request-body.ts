import type { IncomingMessage } from 'node:http';
import type { Clock } from '../core/platform/clock.ts';
import { Shares } from '../core/platform/shares.ts';

/** A request to answer with an HTTP status and one sentence. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An update contains the old and the new object, each up to the API server's 3 MiB. */
const maxBodyBytes = 8 * 1024 * 1024;
/** Milliseconds from the headers to the last byte; the API server sends at once. */
const maxBodyTime = 5_000;

/**
 * The body as text, counted by a reservation that the caller must close.
 * @throws HttpProblem when it is too large, late, cut off, or not UTF-8.
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
  // The iterator must not destroy the connection, which must still carry the refusal.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    // The client has gone.
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
 * Maximum bytes of all bodies. Judging a body takes about four times its size, and the API server's
 * largest update has 8 MiB.
 */
const maxBytes = 48 * 1024 * 1024;
const maxBytesOfClient = 32 * 1024 * 1024;

/**
 * Limits the bytes of bodies over all connections, so that clients together cannot fill the memory.
 */
export class BodyBudget {
  readonly #shares = new Shares({ each: maxBytesOfClient, total: maxBytes });

  /** Starts counting for a client, such as its address. */
  open(client: string): BodyReservation {
    let reserved = 0;
    return {
      upTo: (bytes) => {
        if (bytes <= reserved) return;
        this.#take(client, bytes - reserved);
        reserved = bytes;
      },
      close: () => {
        this.#shares.giveBack(client, reserved);
        reserved = 0;
      },
    };
  }

  #take(client: string, bytes: number): void {
    const refused = this.#shares.take(client, bytes);
    if (refused === 'each') {
      throw new HttpProblem(
        503,
        `requests from ${client} hold ${maxBytesOfClient} bytes already: wait until one has ended`,
      );
    }
    if (refused === 'total') {
      throw new HttpProblem(503, `requests hold ${maxBytes} bytes already: try again`);
    }
  }
}

/** The part of the budget for one body. */
export interface BodyReservation {
  /**
   * Reserves so many bytes in total.
   * @throws HttpProblem 503 when they are not available.
   */
  upTo(bytes: number): void;
  /** Releases all bytes. */
  close(): void;
}

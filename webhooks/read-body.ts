import type { IncomingMessage } from 'node:http';
import type { BodyReservation } from './body-budget.ts';
import type { Clock } from './cluster.ts';
import { HttpProblem } from './http-problem.ts';

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

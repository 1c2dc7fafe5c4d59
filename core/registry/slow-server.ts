import type { Clock } from '../platform/clock.ts';
import type { TransportResponse } from './http-answer.ts';
import { UnavailableError } from './registry-errors.ts';

/** Milliseconds. */
const span = 60_000;
const minimumBytes = 60 * 1024;

/**
 * A body's bytes, as long as they come with 1 KiB a second: who sends less would hold up a fetch for
 * all its time, and the next mirror is not asked. Only the time that the server takes counts.
 * @throws UnavailableError
 */
export async function* watched(
  { body, url }: TransportResponse,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  let waited = 0;
  let bytes = 0;
  let asked = clock.monotonic();
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    waited += clock.monotonic() - asked;
    bytes += chunk.byteLength;
    if (waited >= span) {
      if (bytes < minimumBytes) {
        throw new UnavailableError(`registry ${url.host} sends less than 1 KiB a second`);
      }
      waited = 0;
      bytes = 0;
    }
    yield chunk;
    asked = clock.monotonic();
  }
}

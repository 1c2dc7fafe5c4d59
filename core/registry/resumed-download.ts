import type { Clock } from '../platform/clock.ts';
import type { TransportResponse } from './http-answer.ts';
import { connectionError, isConnectionLost } from './registry-errors.ts';
import { watched } from './slow-server.ts';

export interface DownloadOptions {
  /** Bytes that there should be. */
  readonly size: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** In a row, each without a new byte. */
const maxResumes = 3;
const resumeDelay = 200;

/**
 * A body's bytes, taken up again where the connection breaks: as long as each connection brings
 * some, for only the time limit ends a download that goes on.
 */
export async function* resumedDownload(
  open: (offset: number) => Promise<TransportResponse>,
  { size, clock, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let resumes = 0; ; resumes += 1) {
    const response = await open(offset);
    // Who cannot do ranges sends all of it once more.
    let skip = response.status === 206 ? 0 : offset;
    try {
      for await (const chunk of watched(response, clock)) {
        const fresh = chunk.subarray(Math.min(skip, chunk.byteLength));
        skip -= chunk.byteLength - fresh.byteLength;
        offset += fresh.byteLength;
        if (fresh.byteLength === 0) continue;
        resumes = 0;
        yield fresh;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      // All is there but the word that it is the end.
      if (offset >= size && isConnectionLost(error)) return;
      if (!isConnectionLost(error) || resumes === maxResumes) {
        throw connectionError(response.url.host, error);
      }
    }
    await clock.sleep(resumeDelay * 2 ** resumes, signal);
  }
}

import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { ReceivedUpload } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { temporaryPath } from '../temporary-files.ts';

export interface ReceiveOptions {
  /** Folder of the temporary file: on the file system of a store that keeps files. */
  readonly directory: string;
  readonly maxBytes: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly place: ReceivingPlace;
}

/** The place of an upload, which it may lose while its body arrives. */
interface ReceivingPlace {
  /** Aborted with an UploadRefusal. */
  readonly signal: AbortSignal;
  begin(): void;
  add(bytes: number): void;
  end(): void;
}

/**
 * Minimum bytes of a body per period (milliseconds), as for readers of archives: a slower client would
 * keep a place from others.
 */
const leastSent = 64 * 1024;
const stallTime = 30_000;

/**
 * Writes a body to a file, synced to disk. Deletes an incomplete file. Leaves a body that is too slow
 * to the caller, unread.
 * @throws UploadRefusal with RukPak's words, or the one with which the place is lost
 */
export async function receiveUpload(
  body: AsyncIterable<Uint8Array>,
  { directory, maxBytes, clock, place }: ReceiveOptions,
): Promise<ReceivedUpload> {
  const path = temporaryPath(directory);
  const hash = createHash('sha256');
  let size = 0;
  const ended = new AbortController();
  const stalled = stall(() => size, clock, AbortSignal.any([ended.signal, place.signal]));
  // It also rejects when the body has ended.
  stalled.catch(() => undefined);
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of readable(body, stalled)) {
      size += chunk.byteLength;
      place.add(chunk.byteLength);
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  place.begin();
  try {
    await writeFile(path, measured());
  } catch (error) {
    await rm(path, { force: true });
    throw error instanceof UploadRefusal ? error : notStored(error);
  } finally {
    ended.abort();
    place.end();
  }
  return { path, size, digest: hash.digest('hex') };
}

/** The refusal after an error of the disk or the cluster. */
export function notStored(error: unknown): UploadRefusal {
  return new UploadRefusal(500, `failed to store bundle data: ${errorMessage(error)}`, {
    cause: error,
  });
}

async function writeFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Ends early when `stalled` rejects: a waiting iterator cannot be ended. */
async function* readable(
  body: AsyncIterable<Uint8Array>,
  stalled: Promise<never>,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([chunks.next(), stalled]);
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (error instanceof UploadRefusal) throw error;
    throw new UploadRefusal(500, `read request body: ${errorMessage(error)}`, { cause: error });
  }
}

/** Rejects when the client is too slow, or with the signal's reason. */
async function stall(
  received: () => number,
  clock: ReceiveOptions['clock'],
  ended: AbortSignal,
): Promise<never> {
  for (let before = 0; ; before = received()) {
    await clock.sleep(stallTime, ended);
    if (received() < before + leastSent) throw tooSlow();
  }
}

function tooSlow(): UploadRefusal {
  const least = `${leastSent / 1024} KiB in ${stallTime / 1000} s`;
  return new UploadRefusal(
    408,
    `the server received less than ${least}: repeat the upload over a faster connection`,
  );
}

/** The reason for refusing a PUT, for the answer. */
export class UploadRefusal extends Error {
  override readonly name = 'UploadRefusal';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export function tooLarge(limit: number): UploadRefusal {
  return new UploadRefusal(
    413,
    `the upload is larger than the limit of ${limit} bytes (--max-upload-bytes)`,
  );
}

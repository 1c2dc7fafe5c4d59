import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { ReceivedUpload } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import { temporaryPath } from '../temporary-files.ts';
import { tooLarge, UploadRefusal } from './upload-refusal.ts';

export interface ReceiveOptions {
  /** Where the file is made: on the file system of a store that keeps files. */
  readonly directory: string;
  readonly maxBytes: number;
}

/**
 * Writes a body to a file, synced to disk. Nothing is left of one that breaks off.
 * @throws UploadRefusal with RukPak's words
 */
export async function receiveUpload(
  body: AsyncIterable<Uint8Array>,
  { directory, maxBytes }: ReceiveOptions,
): Promise<ReceivedUpload> {
  const path = temporaryPath(directory);
  const hash = createHash('sha256');
  let size = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of readable(body)) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await writeFile(path, measured());
  } catch (error) {
    await rm(path, { force: true });
    throw error instanceof UploadRefusal ? error : notStored(error);
  }
  return { path, size, digest: hash.digest('hex') };
}

/** What a disk or the cluster would not take. */
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

async function* readable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new UploadRefusal(500, `read request body: ${errorMessage(error)}`, { cause: error });
  }
}

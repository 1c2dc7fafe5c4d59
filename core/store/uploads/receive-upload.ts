import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { ReceivedUpload } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import { temporaryPath } from '../temporary-files.ts';

export interface ReceiveOptions {
  /** Folder of the temporary file: on the file system of a store that keeps files. */
  readonly directory: string;
  readonly maxBytes: number;
}

/**
 * Writes a body to a file, synced to disk. Deletes an incomplete file.
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

async function* readable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new UploadRefusal(500, `read request body: ${errorMessage(error)}`, { cause: error });
  }
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

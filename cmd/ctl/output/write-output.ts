import type { Writable } from 'node:stream';

/**
 * Writes chunks as fast as they are read, slows the source down accordingly, and leaves the output
 * open without its listeners. A reader that stops early (`| head`) is not an error.
 */
export async function writeOutput(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  output: Writable,
): Promise<void> {
  output.on('error', ignore);
  try {
    for await (const chunk of chunks) await write(chunk, output);
  } catch (error) {
    if (isClosed(error)) return;
    throw error;
  }
  output.off('error', ignore);
}

/** The failing write rejects; the event after it adds nothing. */
function ignore(): void {}

async function write(chunk: Uint8Array | string, output: Writable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** The reader closed it, now or at an earlier write. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}

import type { Writable } from 'node:stream';

/**
 * Writes chunks as fast as they are read, holding back the source, and leaves the output open, without
 * a listener of ours. That the reader went away (`| head`) is no error: the rest is simply not wanted.
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

/** The write that fails rejects: the event, which comes after it, says nothing new. */
function ignore(): void {}

async function write(chunk: Uint8Array | string, output: Writable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** By the reader, or since an earlier write met that. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}

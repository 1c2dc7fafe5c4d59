import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes chunks as fast as they are read, holding back the source, and leaves the output open. That
 * the reader went away (`| head`) is no error: the rest is simply not wanted.
 */
export async function writeOutput(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  output: Writable,
): Promise<void> {
  try {
    await pipeline(Readable.from(chunks, { highWaterMark: 1 }), output, { end: false });
  } catch (error) {
    if (!isClosedPipe(error)) throw error;
  }
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

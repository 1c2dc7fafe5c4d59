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
    if (!isClosed(error)) throw error;
    unread.add(output);
    return;
  }
  output.off('error', ignore);
}

/** Node itself does not mark standard output. */
const unread = new WeakSet<Writable>();

/** Whether the reader of an output has gone, as far as writes have shown. */
export function isUnread(output: Writable): boolean {
  return unread.has(output);
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

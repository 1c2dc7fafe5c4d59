// First: it bounds the heaps of the worker threads that are started later.
import '../favour-memory.ts';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { mapInOrder } from './map-in-order.ts';
import type { RenderLineOptions } from './render-line.ts';
import { RenderPool } from './render-pool.ts';
import { writeOutput } from './write-output.ts';

/** Lines read ahead per worker: enough to keep all busy behind one slow bundle, few to hold. */
const readAhead = 8;

/**
 * `render --stdin`: a directory per line in, a line of JSON each out, in the same order. Resolves
 * when all are written, or nobody reads them any more.
 */
export async function renderStream(
  input: Readable,
  output: Writable,
  options: RenderLineOptions,
): Promise<void> {
  await using pool = new RenderPool(options);
  try {
    const lines = mapInOrder(directories(input), pool.size * readAhead, (directory) =>
      pool.render(directory),
    );
    await writeOutput(lines, output);
  } finally {
    // Ends the reading where the output ended first.
    input.destroy();
  }
}

async function* directories(input: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line !== '') yield line;
  }
}

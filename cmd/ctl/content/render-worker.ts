import { parentPort, workerData } from 'node:worker_threads';
import { type LineMessage, type RenderLineOptions, renderLine } from './render-line.ts';

/** Worker thread of `render --stdin`: receives a directory, sends its line. */

const options = workerData as RenderLineOptions;

parentPort?.on('message', (directory: string) => void render(directory));

async function render(directory: string): Promise<void> {
  // Its own memory, so that it can be transferred instead of copied.
  const { ok, line } = await renderLine(directory, options);
  const bytes = new TextEncoder().encode(line);
  parentPort?.postMessage({ ok, bytes } satisfies LineMessage, [bytes.buffer]);
}

import { parentPort, workerData } from 'node:worker_threads';
import { type RenderLineOptions, renderLine } from './render-line.ts';

/** Worker thread of `render --stdin`: receives a directory, sends the bytes of its line. */

const options = workerData as RenderLineOptions;

parentPort?.on('message', (directory: string) => void render(directory));

async function render(directory: string): Promise<void> {
  // Its own memory, so that it can be transferred instead of copied.
  const line = new TextEncoder().encode(await renderLine(directory, options));
  parentPort?.postMessage(line, [line.buffer]);
}

import { parentPort, workerData } from 'node:worker_threads';
import { type RenderLineOptions, renderLine } from './render-line.ts';

/** Worker thread of `render --stdin`: a directory in, the bytes of its line out. */

const options = workerData as RenderLineOptions;

parentPort?.on('message', (directory: string) => void render(directory));

async function render(directory: string): Promise<void> {
  // Own memory, so that it can be handed over instead of being copied.
  const line = new TextEncoder().encode(await renderLine(directory, options));
  parentPort?.postMessage(line, [line.buffer]);
}

// Import this first: it limits the heaps of the worker threads that start later.
import '../../favour-memory.ts';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../output/output.ts';
import { mapInOrder } from './map-in-order.ts';
import { failureLine, type LineMessage, type RenderLineOptions } from './render-line.ts';

/**
 * Lines to read ahead per worker: enough to keep all busy behind one slow bundle, and few to keep
 * in memory.
 */
const readAhead = 8;

/**
 * `render --stdin`: reads one directory per line and writes one line of JSON each, in the same
 * order. Resolves with the number of refused bundles when all lines are written, or when nobody
 * reads them any more.
 */
export async function renderStream(
  input: Readable,
  output: Writable,
  options: RenderLineOptions,
): Promise<{ readonly failed: number }> {
  await using pool = new RenderPool(options);
  try {
    const lines = mapInOrder(directories(input), pool.size * readAhead, (directory) =>
      pool.render(directory),
    );
    await writeOutput(lines, output);
    return { failed: pool.failed };
  } finally {
    // Stops reading when the output has ended first.
    input.destroy();
  }
}

async function* directories(input: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line !== '') yield line;
  }
}

interface Task {
  readonly directory: string;
  readonly done: (line: Uint8Array) => void;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const workerModule = new URL(`./render-worker${extname(import.meta.url)}`, import.meta.url);

/** Renders directories on all processors, one worker thread each, started when first needed. */
class RenderPool implements AsyncDisposable {
  readonly size = availableParallelism();
  readonly #options: RenderLineOptions;
  readonly #workers = new Set<Worker>();
  readonly #idle: Worker[] = [];
  readonly #running = new Map<Worker, Task>();
  readonly #waiting: Task[] = [];
  #failed = 0;

  constructor(options: RenderLineOptions) {
    this.#options = options;
  }

  /** Number of bundles that have no objects. */
  get failed(): number {
    return this.#failed;
  }

  /** The directory's line of output, even when rendering it ended its worker. Never rejects. */
  render(directory: string): Promise<Uint8Array> {
    return new Promise((done) => {
      this.#waiting.push({ directory, done });
      this.#assign();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#waiting.length = 0;
    this.#running.clear();
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? this.#start();
      const task = worker === undefined ? undefined : this.#waiting.shift();
      if (worker === undefined || task === undefined) return;
      this.#running.set(worker, task);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      worker.postMessage(task.directory);
    }
  }

  #start(): Worker | undefined {
    if (this.#workers.size >= this.size) return undefined;
    const worker = new Worker(workerModule, { workerData: this.#options });
    this.#workers.add(worker);
    let reason = 'the worker thread ended';
    worker.on('message', (message: LineMessage) => this.#finish(worker, message));
    // Out of memory, for example; 'exit' follows.
    worker.on('error', (error) => {
      reason = errorMessage(error);
    });
    worker.on('exit', () => this.#replace(worker, reason));
    return worker;
  }

  #finish(worker: Worker, { ok, bytes }: LineMessage): void {
    if (!ok) this.#failed += 1;
    this.#running.get(worker)?.done(bytes);
    this.#running.delete(worker);
    this.#idle.push(worker);
    this.#assign();
  }

  #replace(worker: Worker, reason: string): void {
    this.#workers.delete(worker);
    const task = this.#running.get(worker);
    if (task === undefined) return;
    this.#running.delete(worker);
    this.#failed += 1;
    const line = failureLine(task.directory, `rendering this bundle failed: ${reason}`);
    task.done(new TextEncoder().encode(line));
    this.#assign();
  }
}

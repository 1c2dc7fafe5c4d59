import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { inTime } from '../in-time.ts';
import type { Given, HandlerName } from './given.ts';
import type { Trial } from './trial.ts';

/** What a fresh copy is told; functions stay here. */
export interface FreshCall {
  readonly module: string;
  readonly handler: HandlerName;
  readonly given: Omit<Given, 'context'> & {
    readonly context: Omit<Given['context'], 'signal' | 'logger'>;
  };
}

// The same extension as this file: TypeScript from a checkout, JavaScript from a package.
const entry = new URL(`./fresh-copy-entry${extname(import.meta.url)}`, import.meta.url);

/** Calls a handler of a class that a thread of its own has just loaded. */
export async function runFreshCopy(
  { handler, given: make }: Pick<Trial, 'handler' | 'given'>,
  { module, timeout }: { readonly module: URL; readonly timeout: number | undefined },
): Promise<unknown> {
  const given = await make();
  const { signal: _signal, logger: _logger, ...context } = given.context;
  const call: FreshCall = { module: module.href, handler, given: { ...given, context } };
  const worker = new Worker(entry, { workerData: call });
  try {
    const answer = new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the copy of the class gave no answer')));
    });
    return await inTime(handler, timeout, () => answer);
  } finally {
    await worker.terminate();
  }
}

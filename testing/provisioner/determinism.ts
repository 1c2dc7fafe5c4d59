import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { inTime } from '../calls.ts';
import { assertEqual } from '../suite.ts';
import type { Given } from './given.ts';
import { comparable, type HandlerName, type Trial } from './trial.ts';

interface FreshCopyOptions {
  /** The class's module (default: no fresh copy is tested). */
  readonly module: URL | undefined;
  readonly timeout: number | undefined;
}

/**
 * Equal arguments must give equal results: at another time and place, with any order of an object's
 * keys, and in a process that has just loaded the class.
 */
export async function checkDeterminism(
  trial: Trial,
  { module, timeout }: FreshCopyOptions,
): Promise<void> {
  const first = comparable(trial.handler, await trial.run(await trial.given()));
  const again = await trial.run(await trial.given());
  assertEqual(
    comparable(trial.handler, again),
    first,
    'called again with the same, it gave something else: a result is to depend on nothing but what the handler is given',
  );
  const given = await trial.given();
  const elsewhere = await inShiftedEnvironment(() => trial.run(given));
  assertEqual(
    comparable(trial.handler, elsewhere),
    first,
    'a year later, in another time zone and with other random numbers, it gave something else: context.seed is for what must be random',
  );
  const shuffled = { ...given, object: reordered(given.object) };
  assertEqual(
    comparable(trial.handler, await trial.run(shuffled)),
    first,
    'with the keys of the object in another order it gave something else: sort what you write out',
  );
  if (module === undefined) return;
  assertEqual(
    comparable(trial.handler, await runFreshCopy(trial, { module, timeout })),
    first,
    'a copy of the class that was just loaded gave something else: nothing is to be remembered between calls, or made when the module is loaded',
  );
}

const year = 365 * 24 * 60 * 60 * 1000;

/** Runs at another time, in another time zone and with other random numbers of Math. */
async function inShiftedEnvironment<T>(run: () => Promise<T>): Promise<T> {
  const { Date: realDate } = globalThis;
  const { random } = Math;
  const zone = process.env['TZ'];
  try {
    globalThis.Date = yearAhead(realDate);
    Math.random = () => 1 - random();
    process.env['TZ'] = zone === 'Pacific/Kiritimati' ? 'America/New_York' : 'Pacific/Kiritimati';
    return await run();
  } finally {
    globalThis.Date = realDate;
    Math.random = random;
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
}

/** `Date` with a present time one year ahead; given dates are unchanged. */
function yearAhead(real: DateConstructor): DateConstructor {
  return new Proxy(real, {
    construct: (target, args: readonly unknown[], self) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + year] : args, self) as Date,
    apply: (target) => new target(target.now() + year).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => target.now() + year : (Reflect.get(target, name, receiver) as unknown),
  });
}

/** A copy whose objects have their keys in reverse order. Lists stay unchanged. */
function reordered<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reordered) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reordered(member)]);
  return Object.fromEntries(entries.toReversed()) as T;
}

/** The arguments of a fresh copy; functions cannot be sent. */
export interface FreshCall {
  readonly module: string;
  readonly handler: HandlerName;
  readonly given: Omit<Given, 'context'> & {
    readonly context: Omit<Given['context'], 'signal' | 'logger'>;
  };
}

// The same extension as this file: TypeScript from a checkout, JavaScript from a package.
const entry = new URL(`./fresh-copy-entry${extname(import.meta.url)}`, import.meta.url);

/** Calls a handler of a class that a separate thread has just loaded. */
async function runFreshCopy(
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

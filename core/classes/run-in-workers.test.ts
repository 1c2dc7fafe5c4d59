// @module-tag process

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { cpuTime } from '../../test/bench/process-tree.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aBundle, aBundleDeployment, anImage } from '../../test/helpers/objects.ts';
import { defaultLimits } from '../content/index.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { DeploymentContext, Provisioner } from '../contracts/provisioner.ts';
import { errorMessage, TerminalError, WaitingError } from '../errors.ts';
import { systemClock } from '../platform/clock.ts';
import { ByteBudget, type InTurn, withTimeLimit } from '../platform/runtime/index.ts';
import type { ClassHost } from './class-host.ts';
import { runInWorkers, type WorkerOptions } from './run-in-workers.ts';
import { OutOfTimeError } from './worker/ends.ts';

const errorsModule = new URL('../errors.ts', import.meta.url).href;

/** What it does is told by the name of the object that it is called with. */
const module = `
import { TerminalError, WaitingError } from '${errorsModule}';

const never = (signal) => new Promise((_, reject) => {
  signal.addEventListener('abort', () => reject(new WaitingError('given up: ' + signal.reason.message)));
});

const behaviours = {
  same: (files) => files,
  other: (files) => ({
    files: new Map([...files.files].map(([path, content]) => ['new/' + path, content])),
    directories: new Set(['new', 'new/empty']),
  }),
  facts: (_, object, { inputs, cluster, seed }) => [
    { apiVersion: 'v1', kind: 'Facts', metadata: {}, inputs: inputs.map(String), cluster, seed: String(seed) },
  ],
  objects: () => [
    { apiVersion: 'v1', kind: 'A', metadata: {}, big: 12345678901234567890n, float: 1e21 },
    JSON.parse('{"apiVersion":"v1","kind":"B","metadata":{},"__proto__":{"own":true}}'),
    ...Array.from({ length: 50 }, (_, i) => ({ apiVersion: 'v1', kind: 'C' + i, metadata: {}, data: 'x'.repeat(50_000) })),
  ],
  none: () => [],
  many: () => Array.from({ length: 101 }, () => ({ apiVersion: 'v1', kind: 'A', metadata: {} })),
  large: () => [{ apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, data: 'x'.repeat(4_000_000) }],
  nothing: () => undefined,
  pid: () => [{ apiVersion: 'v1', kind: 'Pid', metadata: { name: String(process.pid) } }],
  context: (_, object, { limits }) => [{ ...object, limits }],
  terminal: () => { throw new TerminalError('cannot be', { reason: 'Odd' }); },
  waiting: () => { throw new WaitingError('not yet'); },
  plain: () => { throw new RangeError('out of range'); },
  text: () => { throw 'just text'; },
  logging: (files, _, { logger }) => {
    logger.child({ step: 'one' }).info({ count: 1n, odd: () => 1 }, 'hello');
    logger.error({}, 'bad');
    return files;
  },
  wait: async (_, __, { logger, signal }) => { logger.info({}, 'waits'); return await never(signal); },
  loop: (_, __, { logger }) => {
    logger.info({ pid: process.pid }, 'loops');
    // One turn of the event loop, so that the line is sent.
    return new Promise(() => setTimeout(() => { for (;;); }, 20));
  },
  exit: () => process.exit(3),
  stray: () => new Promise(() => setTimeout(() => { throw new Error('stray'); }, 1)),
  grow: () => { const all = []; for (;;) all.push({ next: all.length }); },
  buffers: () => { const all = []; for (;;) all.push(Buffer.alloc(64 * 1024 * 1024, 1)); },
  hold: async (_, object, { logger, signal }) => {
    const held = Buffer.alloc(200 * 1024 * 1024, 1);
    logger.info({ held: held.byteLength }, 'holds');
    await never(signal);
  },
  huge: () => { const all = []; for (;;) all.push(new Array(30_000_000).fill(all)); },
};
const run = async (files, object, context) => await behaviours[object.metadata.name](files, object, context);

const configure = async (files, { metadata }, { inputs, cluster, seed, installed, limits }) => {
  if (metadata.name === 'nothing') return undefined;
  if (metadata.name === 'same') return files;
  if (metadata.name === 'waiting') throw new WaitingError('not yet');
  const facts = JSON.stringify({ pid: process.pid, inputs: inputs.length, cluster, seed: String(seed), installed });
  return { files: new Map([...files.files, ['facts.json', Buffer.from(facts)]]), directories: files.directories };
};
const inputs = async ({ metadata }) => [{ kind: 'Secret', name: metadata.name, key: 'k' }];

export default { className: 'acme', bundle: run, configure, deployment: run, inputs, uses: ['cluster'] };
`;

let directory: string;
let workers: ClassHost | undefined;
/** For tests that neither end its only process nor need options of their own. */
let shared: ClassHost;
let acme: Provisioner;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'workers-'));
  await writeFile(join(directory, 'acme.mjs'), module);
  shared = await open({ size: 1 });
  acme = shared.provisioners[0]!;
});

afterEach(async () => {
  await workers?.close();
  workers = undefined;
});

afterAll(async () => {
  await shared.close();
  await rm(directory, { recursive: true });
});

interface Line {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

function recorder(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  };
  return { lines, logger };
}

function acmeModule(): URL {
  return pathToFileURL(join(directory, 'acme.mjs'));
}

/** Its clock stands still: a handler that a busy machine makes slow is not killed for that. */
async function open(options: Partial<WorkerOptions>): Promise<ClassHost> {
  return await runInWorkers({
    modules: [acmeModule()],
    clock: new ManualClock(),
    memory: ampleMemory(),
    logger: recorder().logger,
    ...options,
  });
}

async function start(options: Partial<WorkerOptions> = {}): Promise<Provisioner> {
  workers = await open(options);
  return workers.provisioners[0]!;
}

function context(options: Partial<InTurn<DeploymentContext>> = {}): DeploymentContext {
  const { signal } = new AbortController();
  return { signal, logger: recorder().logger, limits: defaultLimits, inputs: [], ...options };
}

function bundle(name: string): Bundle {
  return aBundle({ name, source: anImage('acme') }) as Bundle;
}

function deployment(name: string): BundleDeployment {
  return aBundleDeployment({ name, source: anImage('acme') }) as BundleDeployment;
}

const noFiles: BundleFiles = { files: new Map(), directories: new Set() };

function convert(acme: Provisioner, name: string, files = noFiles) {
  return acme.bundle!(files, bundle(name), context());
}

function objectsOf(acme: Provisioner, name: string, ctx = context()) {
  return acme.deployment!(noFiles, deployment(name), ctx);
}

async function direct(): Promise<Provisioner> {
  return ((await import(acmeModule().href)) as { default: Provisioner }).default;
}

function someFiles(): BundleFiles {
  const large = new Uint8Array(1_500_000).map((_, index) => index % 251);
  return {
    files: new Map([
      // A view of a small part of Node's pool, as every small Buffer is.
      ['a.txt', Buffer.from('text')],
      ['empty.txt', new Uint8Array()],
      ['large.bin', large],
      ['last.txt', large.subarray(7, 12)],
    ]),
    directories: new Set(['dir', 'dir/empty']),
  };
}

/** By value: a Buffer equals a Uint8Array of the same bytes. */
function plain({ files, directories }: BundleFiles): object {
  return {
    files: [...files].map(([path, content]) => [path, Buffer.from(content).toString('base64')]),
    directories: [...directories],
  };
}

async function pidOf(acme: Provisioner): Promise<number> {
  const [object] = await objectsOf(acme, 'pid');
  return Number(object?.metadata.name);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('what a deployment is rendered with besides', () => {
  test('is asked for by the class', async () => {
    expect(acme.uses).toEqual(['cluster']);
    const reference = { kind: 'Secret', name: 'demo', key: 'k' };
    expect(await acme.inputs?.(deployment('demo'), context())).toEqual([reference]);
  });

  test('comes to the handler as it is', async () => {
    const facts = {
      inputs: [Buffer.from('first'), undefined],
      cluster: { version: 'v1.36.3', apiVersions: ['v1'], systemNamespace: 'system' },
      seed: Buffer.from('seed'),
    };
    const [object] = await objectsOf(acme, 'facts', context(facts));
    const { cluster } = facts;
    expect(object).toMatchObject({ inputs: ['first', 'undefined'], cluster, seed: 'seed' });
  });
});

describe('configure', () => {
  async function configured(acme: Provisioner, name: string, options?: Partial<DeploymentContext>) {
    return await acme.configure!(someFiles(), deployment(name), context(options));
  }

  test('runs there with content and facts, and gives other content', async () => {
    const cluster = { version: 'v1.36.3', apiVersions: ['v1'], systemNamespace: 'system' };
    const seed = Buffer.from('seed');
    const { files } = await configured(acme, 'demo', {
      cluster,
      seed,
      installed: true,
    });
    expect([...files.keys()].slice(0, -1)).toEqual([...someFiles().files.keys()]);
    const facts = JSON.parse(String(Buffer.from(files.get('facts.json')!))) as { pid: number };
    expect(facts).toEqual({
      pid: expect.any(Number) as number,
      inputs: 0,
      cluster,
      seed: 'seed',
      installed: true,
    });
    expect(facts.pid).not.toBe(process.pid);
  });

  test('may return its input, must return something, and may wait', async () => {
    const files = someFiles();
    expect(await acme.configure!(files, deployment('same'), context())).toBe(files);
    await expect(configured(acme, 'nothing')).rejects.toThrow('the handler returned no files');
    await expect(configured(acme, 'waiting')).rejects.toThrow(new WaitingError('not yet'));
  });

  test('keeps to the limits of content', async () => {
    const limits = { ...defaultLimits, maxEntries: 6 };
    await expect(configured(await start(), 'demo', { limits })).rejects.toThrow(TerminalError);
  });

  test('runs here where its content may stay', async () => {
    const acme = await start({ inProcess: () => true });
    const { files } = await configured(acme, 'demo');
    expect(String(Buffer.from(files.get('facts.json')!))).toContain(`"pid":${process.pid}`);
  });
});

describe('content that may stay', () => {
  const inProcess = ({ files }: BundleFiles): boolean => files.size < 2;

  test('is given to the handlers of this process, other content is not', async () => {
    const acme = await start({ inProcess });
    expect(await pidOf(acme)).toBe(process.pid);
    const [object] = await acme.deployment!(someFiles(), deployment('pid'), context());
    expect(Number(object?.metadata.name)).not.toBe(process.pid);
    expect(await convert(acme, 'same')).toBe(noFiles);
  });

  test('gives what it gives elsewhere: errors and bounds too', async () => {
    const acme = await start({ inProcess });
    await expect(convert(acme, 'terminal')).rejects.toEqual(
      new TerminalError('cannot be', { reason: 'Odd' }),
    );
    const limits = { ...defaultLimits, maxEntries: 100 };
    await expect(objectsOf(acme, 'many', context({ limits }))).rejects.toThrow(
      'bundle has more than 100 objects (--max-content-entries)',
    );
  });
});

describe('a result', () => {
  test('the bytes of a result are told while they arrive', async () => {
    const received = vi.fn();
    const turn = { creator: 'core', received };
    await acme.bundle!(someFiles(), bundle('other'), context({ turn }));
    const told = received.mock.calls.map(([bytes]) => bytes as number);
    expect(told.length).toBeGreaterThan(1);
    expect(told.toSorted((one, other) => one - other)).toEqual(told);
    expect(told.at(-1)).toBeGreaterThan(1_500_000);
    expect(told.at(-1)).toBeLessThan(1_510_000);
  });

  test('is what a direct call returns: files', async () => {
    const expected = await convert(await direct(), 'other', someFiles());
    expect(plain(await convert(acme, 'other', someFiles()))).toEqual(plain(expected));
  });

  test('has no more objects than there may be, and none that is too large to apply', async () => {
    const limits = { ...defaultLimits, maxEntries: 100 };
    await expect(objectsOf(acme, 'many', context({ limits }))).rejects.toThrow(
      'bundle has more than 100 objects (--max-content-entries)',
    );
    await expect(objectsOf(acme, 'large')).rejects.toThrow(/^A "a" has 4000\d\d\d bytes as JSON/);
  });

  test('is what a direct call returns: objects, with exact numbers and odd keys', async () => {
    const objects = await objectsOf(acme, 'objects');
    expect(objects).toEqual(await objectsOf(await direct(), 'objects'));
    expect(Object.keys(objects[1] ?? {})).toContain('__proto__');
    expect(await objectsOf(acme, 'none')).toEqual([]);
  });

  test('is the very files that were given, where the handler returns them', async () => {
    const files = someFiles();
    expect(await convert(acme, 'same', files)).toBe(files);
  });

  test('comes of the whole object and context', async () => {
    const [object] = await objectsOf(acme, 'context');
    expect(object).toEqual({ ...deployment('context'), limits: defaultLimits });
  });

  test('has to be one', async () => {
    await expect(convert(acme, 'nothing')).rejects.toThrow('the handler returned no files');
    await expect(objectsOf(acme, 'nothing')).rejects.toThrow('the handler returned no objects');
  });
});

describe('an error', () => {
  test('keeps class, reason and message', async () => {
    const terminal = await convert(acme, 'terminal').catch((error: unknown) => error);
    expect(terminal).toBeInstanceOf(TerminalError);
    expect(terminal).toMatchObject({ message: 'cannot be', reason: 'Odd' });
    const waiting = await convert(acme, 'waiting').catch((error: unknown) => error);
    expect(waiting).toBeInstanceOf(WaitingError);
    expect(waiting).toMatchObject({ message: 'not yet', reason: undefined });
  });

  test('of another class keeps its message and where it was thrown', async () => {
    const error = await objectsOf(acme, 'plain').catch((error: unknown) => error);
    expect(error).toMatchObject({
      message: 'out of range',
      stack: expect.stringContaining('acme.mjs') as string,
    });
    expect(error).not.toBeInstanceOf(TerminalError);
    await expect(objectsOf(acme, 'text')).rejects.toThrow('just text');
  });

  test('of sending what cannot be sent rejects the call alone', async () => {
    const odd = { ...bundle('same'), odd: () => 1 };
    await expect(acme.bundle!(noFiles, odd, context())).rejects.toThrow('could not be cloned');
    expect(await objectsOf(acme, 'none')).toEqual([]);
  });
});

test('a handler’s log lines reach the logger of its call', async () => {
  const { lines, logger } = recorder();
  await acme.bundle!(noFiles, bundle('logging'), context({ logger }));
  expect(lines).toEqual([
    { level: 'info', fields: { step: 'one', count: 1, odd: '() => 1' }, message: 'hello' },
    { level: 'error', fields: {}, message: 'bad' },
  ]);
});

describe('an abort', () => {
  test('reaches a handler that listens, which has the last word', async () => {
    const { lines, logger } = recorder();
    const abort = new AbortController();
    const pid = await pidOf(acme);
    const call = objectsOf(acme, 'wait', context({ logger, signal: abort.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow(new WaitingError('given up: enough'));
    expect(await pidOf(acme)).toBe(pid);
  });

  test('ends an endless loop after a second, and the next call works', async () => {
    const { lines, logger } = recorder();
    const clock = new ManualClock();
    const abort = new AbortController();
    const acme = await start({ clock, size: 1 });
    const call = objectsOf(acme, 'loop', context({ logger, signal: abort.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    const next = pidOf(acme);
    abort.abort(new Error('enough'));
    clock.advance(1_000);
    await expect(call).rejects.toThrow('enough');
    const { pid } = lines[0]!.fields as { pid: number };
    expect(await next).not.toBe(pid);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  test('before or while a call waits for a process rejects at once', async () => {
    const { lines, logger } = recorder();
    const running = new AbortController();
    const first = objectsOf(acme, 'wait', context({ logger, signal: running.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    const waiting = new AbortController();
    const second = objectsOf(acme, 'none', context({ signal: waiting.signal }));
    const third = objectsOf(acme, 'none');
    waiting.abort(new Error('no longer'));
    await expect(second).rejects.toThrow('no longer');
    const fourth = objectsOf(acme, 'none', context({ signal: waiting.signal }));
    await expect(fourth).rejects.toThrow('no longer');
    running.abort(new Error('enough'));
    await expect(first).rejects.toThrow('given up: enough');
    expect(await third).toEqual([]);
  });
});

describe('a limit on the time that a call runs', () => {
  test('ends it, in words of its own, and leaves the others what they wait for', async () => {
    const { lines, logger } = recorder();
    const clock = new ManualClock();
    const acme = await start({ clock, size: 1, runningLimit: 30_000 });
    const looping = objectsOf(acme, 'loop', context({ logger }));
    await eventually(() => expect(lines).toHaveLength(1));
    const next = pidOf(acme);
    const error = looping.catch((error: unknown) => error);
    clock.advance(30_000);
    await setImmediate();
    clock.advance(1_000);
    expect(await error).not.toBeInstanceOf(TerminalError);
    expect(await error).toMatchObject({
      message:
        'class "acme" took longer than 30 s for this content: make the content smaller, or remove an endless loop or recursion',
    });
    expect(await next).not.toBe((lines[0]!.fields as { pid: number }).pid);
  });

  test('is final for a call that used the processor all the time', async () => {
    const { lines, logger } = recorder();
    const clock = new ManualClock();
    const acme = await start({ clock, size: 1, runningLimit: 300 });
    const error = objectsOf(acme, 'loop', context({ logger })).catch((error: unknown) => error);
    await eventually(() => expect(lines).toHaveLength(1));
    const { pid } = lines[0]!.fields as { pid: number };
    const before = cpuTime(pid).own;
    await eventually(() => expect(cpuTime(pid).own - before).toBeGreaterThan(200));
    clock.advance(300);
    await setImmediate();
    clock.advance(1_000);
    expect(await error).toBeInstanceOf(OutOfTimeError);
    expect((await error) as Error).toMatchObject({
      message:
        'class "acme" took longer than 0.3 s for this content: make the content smaller, or remove an endless loop or recursion. Core retries when content or values change',
    });
  });

  test('one creator that has all processes keeps no other one waiting', async () => {
    const { lines, logger } = recorder();
    const acme = await start({ size: 2 });
    const stop = new AbortController();
    const asked = (creator: string, name: string) =>
      withTimeLimit(
        (signal, countdown) =>
          objectsOf(acme, name, context({ logger, signal, turn: { creator, countdown } })),
        { limit: 60_000, signal: stop.signal },
      );
    const endless = Array.from({ length: 6 }, () => asked('mallory', 'wait'));
    const ends = Promise.allSettled(endless);
    await eventually(() => expect(lines).toHaveLength(2));
    expect(await asked('alice', 'none')).toEqual([]);
    expect(lines).toHaveLength(2);
    stop.abort(new Error('enough'));
    await ends;
  });

  test('does not begin before the call has its process', async () => {
    const { lines, logger } = recorder();
    const clock = new ManualClock();
    const acme = await start({ clock, size: 1, runningLimit: 30_000 });
    const running = new AbortController();
    const first = objectsOf(acme, 'wait', context({ logger, signal: running.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    const second = objectsOf(acme, 'none');
    clock.advance(29_000);
    running.abort(new Error('enough'));
    await expect(first).rejects.toThrow('given up: enough');
    clock.advance(29_000);
    expect(await second).toEqual([]);
  });
});

test('waiting for a process does not count for the time limit of a call', async () => {
  const { lines, logger } = recorder();
  const running = new AbortController();
  const first = objectsOf(acme, 'wait', context({ logger, signal: running.signal }));
  await eventually(() => expect(lines).toHaveLength(1));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { signal } = new AbortController();
    const second = withTimeLimit(
      (own, countdown) =>
        objectsOf(acme, 'none', context({ signal: own, turn: { creator: 'core', countdown } })),
      { limit: 5_000, signal },
    );
    const failure = second.then(() => 'done', errorMessage);
    await setImmediate();
    vi.advanceTimersByTime(5_500);
    expect(await Promise.race([failure, setImmediate('it waits')])).toBe('it waits');
    running.abort(new Error('enough'));
    await expect(first).rejects.toThrow('given up: enough');
    expect(await second).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

describe('a process that dies', () => {
  test.each(['grow', 'huge', 'buffers'])('of memory fails its call for good (%s)', async (name) => {
    const acme = await start({ memoryMegabytes: 32, clock: systemClock });
    const error = await convert(acme, name).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({
      message:
        'class "acme" needs more than 32 MiB of memory for this content: make it smaller or split it',
    });
    expect(await objectsOf(acme, 'none')).toEqual([]);
  });

  test('for others to have its memory is the younger one, and its call is to be made again', async () => {
    const { lines, logger } = recorder();
    const memory = new ByteBudget({ bytes: 400 * 1024 * 1024, clock: systemClock });
    const acme = await start({ size: 2, memory, memoryMegabytes: 400, clock: systemClock });
    const abort = new AbortController();
    const older = objectsOf(acme, 'hold', context({ logger, signal: abort.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    const error = await objectsOf(acme, 'hold').catch((error: unknown) => error);
    expect(error).toBeInstanceOf(WaitingError);
    expect(errorMessage(error)).toMatch(/^waiting for memory: all 400 MiB .* are in use$/);
    abort.abort(new Error('enough'));
    await expect(older).rejects.toThrow('given up: enough');
    expect(await objectsOf(acme, 'none')).toEqual([]);
  });

  test('fails its own call only', async () => {
    const { lines, logger } = recorder();
    const abort = new AbortController();
    const acme = await start({ size: 2 });
    const other = objectsOf(acme, 'wait', context({ logger, signal: abort.signal }));
    await eventually(() => expect(lines).toHaveLength(1));
    const error = await objectsOf(acme, 'exit').catch((error: unknown) => error);
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({
      message:
        'the worker process of class "acme" ended with exit code 3: what it printed is in the log',
    });
    abort.abort(new Error('enough'));
    await expect(other).rejects.toThrow('given up: enough');
  });

  test('has its output in the log', async () => {
    const { lines, logger } = recorder();
    const acme = await start({ logger });
    await expect(objectsOf(acme, 'stray')).rejects.toThrow('ended with exit code 1');
    expect(JSON.stringify(lines)).toContain('Error: stray');
    expect(await objectsOf(acme, 'none')).toEqual([]);
  });
});

describe('the processes', () => {
  test('are as many as wanted, and used again', async () => {
    const { lines, logger } = recorder();
    const abort = new AbortController();
    const acme = await start({ size: 2 });
    const calls = Array.from({ length: 4 }, () =>
      objectsOf(acme, 'wait', context({ logger, signal: abort.signal })),
    );
    await eventually(() => expect(lines).toHaveLength(2));
    abort.abort(new Error('enough'));
    const results = await Promise.allSettled(calls);
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    const pids = await Promise.all(Array.from({ length: 8 }, () => pidOf(acme)));
    expect(new Set(pids).size).toBe(2);
  });

  test('end when there has been no work for half a minute', async () => {
    const clock = new ManualClock();
    const acme = await start({ clock });
    const pid = await pidOf(acme);
    clock.advance(29_000);
    expect(await pidOf(acme)).toBe(pid);
    clock.advance(29_000);
    expect(isAlive(pid)).toBe(true);
    clock.advance(1_000);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(await pidOf(acme)).not.toBe(pid);
  });

  test('are not started any more by a call of the moment at which they are closed', async () => {
    const acme = await start();
    const call = objectsOf(acme, 'none');
    const closed = workers?.close();
    await expect(call).rejects.toThrow('the worker processes have been stopped');
    await closed;
  });

  test('end after closing, even during calls', async () => {
    const { lines, logger } = recorder();
    const acme = await start({ size: 1 });
    const looping = objectsOf(acme, 'loop', context({ logger }));
    const waiting = objectsOf(acme, 'none');
    await eventually(() => expect(lines).toHaveLength(1));
    const results = Promise.allSettled([looping, waiting]);
    await workers?.close();
    expect(isAlive((lines[0]!.fields as { pid: number }).pid)).toBe(false);
    const reason = new Error('the worker processes have been stopped');
    const rejected = { status: 'rejected', reason };
    expect(await results).toEqual([rejected, rejected]);
    await expect(objectsOf(acme, 'none')).rejects.toThrow(reason);
  });

  test('end with their manager, even where it does not close them', async () => {
    const script = `
      import { runInWorkers } from '${new URL('./run-in-workers.ts', import.meta.url).href}';
      import { ByteBudget } from '${new URL('../platform/runtime/queue/byte-budget.ts', import.meta.url).href}';
      import { systemClock } from '${new URL('../platform/clock.ts', import.meta.url).href}';
      const logger = { info: (fields) => { console.log(fields.pid); process.exit(0); } };
      const memory = new ByteBudget({ bytes: 2 ** 30, clock: systemClock });
      const { provisioners } = await runInWorkers({ modules: [new URL(process.argv[1])], memory, logger });
      const object = { metadata: { name: 'loop' } };
      const { signal } = new AbortController();
      await provisioners[0].bundle({ files: new Map(), directories: new Set() }, object, { signal, logger, limits: ${JSON.stringify(defaultLimits)} });
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      script,
      acmeModule().href,
    ]);
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(0);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});

describe('a module', () => {
  test('serves the handlers of its provisioner', async () => {
    const file = join(directory, 'bundles-only.mjs');
    await writeFile(file, `export default { className: 'half', bundle: async (files) => files };`);
    const half = await start({ modules: [pathToFileURL(file)] });
    expect(Object.keys(half)).toEqual(['className', 'bundle']);
  });

  test('without a provisioner is refused', async () => {
    const file = join(directory, 'none.mjs');
    await writeFile(file, 'export const className = "acme";');
    await expect(start({ modules: [pathToFileURL(file)] })).rejects.toThrow(
      'none.mjs exports no provisioner: its default export must be defineProvisioner({ className, … })',
    );
  });

  test('of another contract is refused', async () => {
    const file = join(directory, 'later.mjs');
    await writeFile(file, `export default { className: 'later', contractVersion: 2 };`);
    await expect(start({ modules: [pathToFileURL(file)] })).rejects.toThrow(
      'later.mjs: class "later" is written for contract version 2, and this rukpak has 1',
    );
  });

  test('that cannot be loaded is refused', async () => {
    const missing = pathToFileURL(join(directory, 'missing.mjs'));
    await expect(start({ modules: [missing] })).rejects.toThrow(`cannot load ${missing.href}: `);
  });
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import type { Logger } from '../../../contracts/logger.ts';
import { TerminalError, WaitingError } from '../../../errors.ts';
import { ApiError } from '../../kube/index.ts';
import { precedence } from '../queue/claims.ts';
import { FairSemaphore } from '../queue/semaphore.ts';
import { Controller } from './controller.ts';
import type { ControllerOptions, ReconcileContext } from './controller-options.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

function recordingLogger(lines: Line[], bound: object = {}): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...bound, ...fields } });
  // Each reconcile says that it begins and ends.
  const debug = (fields: object, message: string) => {
    if (!message.startsWith('reconcil')) at('debug')(fields, message);
  };
  return {
    debug,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}

/** What every line of a reconcile of `a` has. */
const object = {
  controller: 'test',
  kind: 'Test',
  name: 'a',
  reconcileID: expect.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/) as string,
};

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function start(
  reconcile: ControllerOptions['reconcile'],
  options: Partial<ControllerOptions> = {},
) {
  const clock = new ManualClock();
  const lines: Line[] = [];
  const logger = recordingLogger(lines);
  const controller = new Controller({
    name: 'test',
    kind: 'Test',
    workers: 2,
    reconcile,
    clock,
    logger,
    ...options,
  });
  const abort = new AbortController();
  const lost = new AbortController();
  const running = controller.run(abort.signal, lost.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    for (let turn = 0; turn < 5; turn++) {
      await settle();
      clock.advance(30_000);
    }
    await running;
  };
  stops.push(stop);
  return { controller, clock, lines, abort, lost, running };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await setImmediate();
}

/** A reconcile that goes on until it is let go. */
function heldReconcile() {
  const started: string[] = [];
  const contexts: ReconcileContext[] = [];
  const release = new Map<string, () => void>();
  const reconcile = async (key: string, context: ReconcileContext): Promise<void> => {
    started.push(key);
    contexts.push(context);
    await new Promise<void>((resolve) => release.set(key, resolve));
  };
  return { reconcile, started, contexts, release };
}

describe('Controller', () => {
  test('works on as many keys at once as it has workers, and on each once', async () => {
    const { reconcile, started, release } = heldReconcile();
    const { controller } = start(reconcile);
    for (const key of ['a', 'a', 'b', 'c']) controller.enqueue(key);
    await settle();
    expect(started).toEqual(['a', 'b']);
    controller.enqueue('a');
    release.get('b')?.();
    await settle();
    expect(started).toEqual(['a', 'b', 'c']);
    release.get('a')?.();
    await settle();
    expect(started).toEqual(['a', 'b', 'c', 'a']);
    for (const go of release.values()) go();
  });

  test('works on all keys at once where it is told to', async () => {
    const { reconcile, started, release } = heldReconcile();
    const workers = Number.POSITIVE_INFINITY;
    const { controller } = start(reconcile, { workers });
    const keys = Array.from({ length: 1000 }, (_, index) => `key-${index}`);
    for (const key of keys) controller.enqueue(key);
    await settle();
    expect(started).toEqual(keys);
    for (const go of release.values()) go();
  });

  test('a change of health, a deletion or a repair never waits behind first installs', async () => {
    const { reconcile, started, release } = heldReconcile();
    const claimOf = (key: string) => ({
      creator: 'all',
      precedence: key.startsWith('install') ? precedence.first : precedence.urgent,
    });
    const { controller } = start(reconcile, { workers: 4, claimOf });
    for (let each = 0; each < 20; each += 1) controller.enqueue(`install-${each}`);
    await settle();
    expect(started).toEqual(['install-0', 'install-1', 'install-2']);
    // The installs hang, and there are more of them than workers.
    controller.enqueue('deleted');
    await settle();
    expect(started.slice(3)).toEqual(['deleted']);
    controller.enqueue('install-19', precedence.urgent);
    controller.enqueue('repaired');
    release.get('deleted')?.();
    await settle();
    release.get('install-19')?.();
    await settle();
    expect(started.slice(4)).toEqual(['install-19', 'repaired']);
    for (const go of release.values()) go();
  });

  test('creators take turns, whatever one of them has queued before', async () => {
    const { reconcile, started, release } = heldReconcile();
    const claimOf = (key: string) => ({ creator: key.split('-')[0] ?? '' });
    const { controller } = start(reconcile, { workers: 4, claimOf });
    for (let each = 0; each < 20; each += 1) controller.enqueue(`mallory-${each}`);
    controller.enqueue('alice-0');
    await settle();
    expect(started).toContain('alice-0');
    release.get('mallory-0')?.();
    controller.enqueue('alice-1');
    await settle();
    expect(started.at(-1)).toBe('alice-1');
    for (const go of release.values()) go();
  });

  test('keys with workers of their own take none of the others, and wait for each other', async () => {
    const own = new FairSemaphore({ places: 1 });
    const begun: string[] = [];
    const blocked = Promise.withResolvers<void>();
    const { controller } = start(
      async (key) => {
        begun.push(key);
        if (key.startsWith('slow')) await blocked.promise;
      },
      { workers: 1, ownWorkers: (key) => (key.startsWith('slow') ? own : undefined) },
    );
    for (const key of ['slow-1', 'slow-2', 'slow-3', 'quick-1', 'quick-2']) controller.enqueue(key);
    await settle();
    expect(begun).toEqual(['slow-1', 'quick-1', 'quick-2']);
    blocked.resolve();
    await settle();
    expect(begun.slice(3)).toEqual(['slow-2', 'slow-3']);
  });

  test('a stop does not begin with what still waits for a worker of its own', async () => {
    const own = new FairSemaphore({ places: 0 });
    const begun: string[] = [];
    const { controller, abort, running } = start(async (key) => void begun.push(key), {
      ownWorkers: () => own,
    });
    controller.enqueue('a');
    await settle();
    abort.abort();
    await running;
    expect(begun).toEqual([]);
  });

  test('a slow key does not delay others', async () => {
    const done: string[] = [];
    const { controller } = start(async (key, { signal }) => {
      if (key === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      done.push(key);
    });
    for (const key of ['slow', 'a', 'b', 'c', 'd']) controller.enqueue(key);
    await settle();
    expect(done).toEqual(['a', 'b', 'c', 'd']);
  });

  test('tries again after an error with back-off, and forgets it after success', async () => {
    let failures = 3;
    let calls = 0;
    const { controller, clock, lines } = start(async () => {
      calls++;
      if (failures-- > 0) throw new Error('a bug');
    });
    controller.enqueue('a');
    await settle();
    for (const delay of [5, 10, 20]) {
      const before = calls;
      clock.advance(delay - 1);
      await settle();
      expect(calls).toBe(before);
      clock.advance(1);
      await settle();
      expect(calls).toBe(before + 1);
    }
    clock.advance(1_000_000);
    await settle();
    expect(calls).toBe(4);
    failures = 1;
    controller.enqueue('a');
    await settle();
    clock.advance(5);
    await settle();
    expect(calls).toBe(6);
    expect(lines).toHaveLength(4);
    expect(lines[2]).toMatchObject({
      level: 'error',
      fields: { ...object, error: 'a bug', tries: 3 },
    });
    expect(lines[0]?.fields).toHaveProperty('stack');
  });

  test('tries again after a second what waits for something outside', async () => {
    let calls = 0;
    const { controller, clock } = start(async () => {
      calls++;
      throw new WaitingError('no upload yet');
    });
    controller.enqueue('a');
    await settle();
    for (const delay of [1000, 2000]) {
      const before = calls;
      clock.advance(delay - 1);
      await settle();
      expect(calls).toBe(before);
      clock.advance(1);
      await settle();
      expect(calls).toBe(before + 1);
    }
  });

  test('survives a reconcile that throws before it returns a promise', async () => {
    let calls = 0;
    const { controller } = start(() => {
      calls++;
      throw new Error('at once');
    });
    for (const key of ['a', 'b', 'c', 'd']) controller.enqueue(key);
    await settle();
    expect(calls).toBe(4);
  });

  test('logs no credentials, whatever an error quotes', async () => {
    const { controller, lines } = start(async () => {
      throw new Error('Get "https://me:secret@host/x": reset');
    });
    controller.enqueue('a');
    await settle();
    expect(JSON.stringify(lines)).toContain('https://host/x');
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test.each([
    ['cannot succeed', new TerminalError('bad spec')],
    ['waits for a change', new WaitingError('no upload yet', { retry: 'on-change' })],
  ])('does not repeat what %s', async (_what, error) => {
    let calls = 0;
    const { controller, clock } = start(async () => {
      calls++;
      throw error;
    });
    controller.enqueue('a');
    await settle();
    clock.advance(1_000_000);
    await settle();
    expect(calls).toBe(1);
    controller.enqueue('a');
    await settle();
    expect(calls).toBe(2);
  });

  test.each([
    [new WaitingError('no upload yet'), 'info'],
    [new ApiError(409, { reason: 'Conflict', message: 'changed' }), 'debug'],
    [new ApiError(403, { message: 'forbidden' }), 'error'],
    [new TerminalError('bad'), 'error'],
  ])('logs %s without a stack at level %s', async (error, level) => {
    const { controller, lines } = start(async () => {
      throw error;
    });
    controller.enqueue('a');
    await settle();
    expect(lines).toEqual([
      expect.objectContaining({
        level,
        fields: { ...object, error: error.message, tries: 1 },
      }),
    ]);
  });

  test('comes back when the reconcile asks for it, or when told from outside', async () => {
    const done: string[] = [];
    const { controller, clock } = start(async (key) => {
      done.push(key);
      return key === 'a' && done.length < 2 ? { requeueAfter: 60_000 } : undefined;
    });
    controller.enqueue('a');
    controller.enqueueAfter('b', 30_000);
    await settle();
    clock.advance(30_000);
    await settle();
    expect(done).toEqual(['a', 'b']);
    clock.advance(30_000);
    await settle();
    expect(done).toEqual(['a', 'b', 'a']);
  });

  test('comes back when it was told to during a reconcile, long before the back-off', async () => {
    let calls = 0;
    const { controller, clock } = start(async (_key, { wakeAfter }) => {
      calls++;
      if (calls > 20) return;
      if (calls === 20) wakeAfter(30_000);
      throw new Error('refused');
    });
    controller.enqueue('a');
    for (let attempt = 1; attempt < 20; attempt++) {
      await settle();
      clock.advance(1_000_000);
    }
    await settle();
    expect(calls).toBe(20);
    clock.advance(30_000);
    await settle();
    expect(calls).toBe(21);
  });

  test('a stop takes no new key and lets the running ones finish undisturbed', async () => {
    const { reconcile, started, contexts, release } = heldReconcile();
    const { controller, abort, running } = start(reconcile, { workers: 1 });
    controller.enqueue('a');
    controller.enqueue('b');
    await settle();
    abort.abort();
    await settle();
    let stopped = false;
    void running.finally(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).toBe(false);
    expect(contexts[0]?.signal.aborted).toBe(false);
    release.get('a')?.();
    await running;
    expect(started).toEqual(['a']);
  });

  test('a stop aborts what takes too long, and leaves behind what ignores that', async () => {
    const { reconcile, contexts } = heldReconcile();
    const { controller, abort, running, clock, lines } = start(reconcile, { stopGrace: 1000 });
    controller.enqueue('a');
    await settle();
    abort.abort();
    await settle();
    clock.advance(1000);
    await settle();
    expect(contexts[0]?.signal.aborted).toBe(true);
    clock.advance(5000);
    await running;
    expect(lines.map(({ message }) => message)).toEqual([
      'stopping: running reconciles took too long and are aborted',
      'stopping: a reconcile ignores its signal',
    ]);
  });

  test('a lease that is lost during a stop aborts what still runs at once', async () => {
    const { reconcile, contexts, release } = heldReconcile();
    const { controller, abort, lost, running, lines } = start(reconcile);
    controller.enqueue('a');
    await settle();
    abort.abort();
    await settle();
    const reason = new Error('leadership is lost');
    lost.abort(reason);
    await settle();
    expect(contexts[0]?.signal.reason).toBe(reason);
    release.get('a')?.();
    await running;
    expect(lines.map(({ message }) => message)).toEqual([
      'stopping: running reconciles are aborted: leadership is lost',
    ]);
  });

  test('a stop tells those who have not begun, and what they throw then is no failure', async () => {
    const { controller, abort, running, lines } = start(async (_, { signal, stopping }) => {
      await new Promise((_, reject) => {
        stopping.addEventListener('abort', () => reject(stopping.reason as Error));
      }).finally(() => expect(signal.aborted).toBe(false));
    });
    controller.enqueue('a');
    await settle();
    abort.abort();
    await running;
    expect(lines).toEqual([]);
  });

  test('an idle controller stops at once', async () => {
    const { abort, running } = start(async () => undefined);
    await settle();
    abort.abort();
    await running;
  });

  test('keeps keys that are enqueued before it runs', async () => {
    const done: string[] = [];
    const controller = new Controller({
      name: 'early',
      kind: 'Test',
      reconcile: async (key) => void done.push(key),
      clock: new ManualClock(),
      logger: silentLogger,
    });
    controller.enqueue('a');
    const abort = new AbortController();
    const running = controller.run(abort.signal);
    await settle();
    abort.abort();
    await running;
    expect(done).toEqual(['a']);
  });
});

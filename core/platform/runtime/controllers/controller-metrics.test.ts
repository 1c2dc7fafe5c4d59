import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import type { Logger } from '../../../contracts/logger.ts';
import type { QueueSnapshot } from '../../observe/index.ts';
import { Controller } from './controller.ts';
import type { ControllerOptions, ReportedMetrics } from './controller-options.ts';

/** What a controller has told, one line each. */
function recordingMetrics() {
  const told: string[] = [];
  const probes = new Map<string, () => QueueSnapshot>();
  const tell =
    (name: string) =>
    (controller: string, value: number | string = '') =>
      void told.push(`${name} ${controller} ${value}`.trim());
  const metrics: ReportedMetrics = {
    controllers: {
      reconcileTotal: tell('total'),
      reconcileTime: tell('time'),
      activeWorkers: tell('active'),
      maxWorkers: tell('max'),
    },
    queues: {
      watch: (name, probe) => void probes.set(name, probe),
      added: tell('added'),
      retried: tell('retries'),
      waited: tell('waited'),
      worked: tell('worked'),
    },
  };
  return { metrics, told, probe: () => probes.get('test')?.() };
}

function start(options: Pick<ControllerOptions, 'reconcile'> & Partial<ControllerOptions>) {
  const clock = new ManualClock();
  const controller = new Controller({
    name: 'test',
    kind: 'Test',
    clock,
    logger: silentLogger,
    ...options,
  });
  const abort = new AbortController();
  const running = controller.run(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  return { controller, clock };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await setImmediate();
}

test('tells what becomes of keys', async () => {
  const { metrics, told } = recordingMetrics();
  const { controller } = start({
    reconcile: async (key) => {
      if (key === 'bad') throw new Error('no');
    },
    metrics,
  });
  controller.enqueue('a');
  controller.enqueue('bad');
  controller.enqueue('bad');
  await settle();
  expect(told).toEqual(
    expect.arrayContaining([
      'max test 8',
      'total test success',
      'total test error',
      'retries test',
      'active test 1',
      'active test 0',
      'waited test 0',
      'worked test 0',
    ]),
  );
  // A key that waits already is not added once more.
  expect(told.filter((line) => line === 'added test')).toHaveLength(2);
});

test('a probe tells how the queue stands', async () => {
  const { metrics, probe } = recordingMetrics();
  const held = Promise.withResolvers<void>();
  const { controller, clock } = start({ reconcile: () => held.promise, workers: 1, metrics });
  expect(probe()).toEqual({ depth: 0, oldestAge: 0, running: [] });
  controller.enqueue('a');
  controller.enqueue('b');
  await settle();
  clock.advance(3_000);
  expect(probe()).toEqual({ depth: 1, oldestAge: 3, running: [3] });
  held.resolve();
  await settle();
  expect(probe()).toEqual({ depth: 0, oldestAge: 0, running: [] });
});

interface Line {
  readonly message: string;
  readonly fields: { readonly reconcileID?: string };
}

function recordingLogger(lines: Line[], bound: object = {}): Logger {
  const log = (fields: object, message: string) =>
    void lines.push({ message, fields: { ...bound, ...fields } });
  return {
    debug: log,
    info: log,
    warn: log,
    error: log,
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}

test('each reconcile logs its object, and an id of its own that its child loggers have too', async () => {
  const lines: Line[] = [];
  const { controller } = start({
    reconcile: async (_key, { logger }) => logger.child({ step: 'fetch' }).info({}, 'working'),
    logger: recordingLogger(lines),
  });
  controller.enqueue('a');
  await settle();
  controller.enqueue('a');
  await settle();
  expect(lines.map(({ message }) => message)).toEqual([
    'reconciling',
    'working',
    'reconciled',
    'reconciling',
    'working',
    'reconciled',
  ]);
  const [first, second, third, fourth] = lines.map(({ fields }) => fields);
  const object = { controller: 'test', kind: 'Test', name: 'a' };
  expect(first).toEqual({ ...object, reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(second).toEqual({ ...first, step: 'fetch' });
  expect(third).toEqual({ ...first, outcome: 'success', seconds: 0 });
  expect(fourth).toMatchObject(object);
  expect(fourth?.reconcileID).not.toBe(first?.reconcileID);
});

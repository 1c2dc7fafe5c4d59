import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeKubeClient } from '../../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import { aborted } from '../../clock.ts';
import { Controller } from '../controllers/controller.ts';
import type { Runnable } from '../manager.ts';
import { leaderRunnable } from './leader-runnable.ts';
import type { Lease } from './lease-lock.ts';

const key = { namespace: 'system', name: 'lock' };
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await setImmediate();
}

function lead(
  runnables: readonly Pick<Runnable, 'run'>[],
  { caches = [], leaseName = key.name }: { caches?: Runnable[]; leaseName?: string | null } = {},
) {
  const client = new FakeKubeClient();
  const clock = new ManualClock();
  const leader = leaderRunnable(runnables, {
    client,
    namespace: key.namespace,
    leaseName: leaseName ?? undefined,
    caches,
    events: { event: () => undefined },
    metrics: { leader: { leads: () => undefined } },
    clock,
    logger: silentLogger,
  });
  const abort = new AbortController();
  const running = leader.run(abort.signal).then(
    () => 'ended',
    (error: unknown) => String(error),
  );
  stops.push(async () => {
    abort.abort(new Error('the process stops'));
    await settle();
    clock.advance(30_000);
    await running;
  });
  const holder = (): string | undefined => {
    const lease: Lease | undefined = client.peek(key);
    return lease?.spec?.holderIdentity;
  };
  return { client, clock, abort, running, holder };
}

/** A cache that is renewed when the test says so. */
function aCache(renewal: Promise<void>, log: string[]): Runnable {
  return {
    name: 'a cache',
    run: async () => undefined,
    refresh: async (signal) => {
      log.push('renewing');
      await Promise.race([renewal, aborted(signal)]);
      signal.throwIfAborted();
      log.push('renewed');
    },
  };
}

describe('leaderRunnable', () => {
  test.each(['while it leads', 'while it stops'])(
    'a lease that is lost %s aborts running reconciles at once',
    async (when) => {
      const signals: AbortSignal[] = [];
      const controller = new Controller({
        name: 'test',
        kind: 'Test',
        reconcile: async (_, context) => {
          signals.push(context.signal);
          await aborted(context.signal);
        },
        clock: new ManualClock(),
        logger: silentLogger,
      });
      controller.enqueue('a');
      const { client, clock, abort, running } = lead([controller]);
      await settle();
      if (when === 'while it stops') abort.abort(new Error('the process stops'));
      await settle();
      expect(signals.map((signal) => signal.aborted)).toEqual([false]);
      const spec = { holderIdentity: 'another', leaseDurationSeconds: 15 };
      client.put({ ...client.peek(key)!, spec });
      clock.advance(2_000);
      await settle();
      expect(await running).toBe('Error: leadership is lost: another holds the lease now');
      expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    },
  );

  test('a failed part stops the others, and the lease is held until they have finished', async () => {
    const work = Promise.withResolvers<void>();
    const failure = Promise.withResolvers<void>();
    const log: string[] = [];
    const { running, holder } = lead([
      { run: async () => await failure.promise },
      {
        run: async (signal) => {
          await aborted(signal);
          log.push('stopping');
          await work.promise;
        },
      },
    ]);
    await settle();
    failure.reject(new Error('it failed'));
    await settle();
    expect(log).toEqual(['stopping']);
    expect(holder()).not.toBe('');
    work.resolve();
    expect(await running).toBe('Error: it failed');
    expect(holder()).toBe('');
  });

  test('works only with caches that were renewed after it took the lease', async () => {
    const log: string[] = [];
    const renewal = Promise.withResolvers<void>();
    const part = { run: async (signal: AbortSignal) => (log.push('working'), aborted(signal)) };
    const { holder } = lead([part], { caches: [aCache(renewal.promise, log)] });
    await settle();
    expect(holder()).not.toBe(undefined);
    expect(log).toEqual(['renewing']);
    renewal.resolve();
    await settle();
    expect(log).toEqual(['renewing', 'renewed', 'working']);
  });

  test('gives the lease back when stopped while the caches are renewed', async () => {
    const log: string[] = [];
    const part = { run: async () => void log.push('working') };
    const never = new Promise<void>(() => undefined);
    const { abort, running, holder } = lead([part], { caches: [aCache(never, log)] });
    await settle();
    abort.abort(new Error('the process stops'));
    expect(await running).toBe('ended');
    expect(log).toEqual(['renewing']);
    expect(holder()).toBe('');
  });

  test('without a lease no other process wrote, and nothing is renewed', async () => {
    const log: string[] = [];
    const part = { run: async (signal: AbortSignal) => (log.push('working'), aborted(signal)) };
    const caches = [aCache(Promise.resolve(), log)];
    lead([part], { caches, leaseName: null });
    await settle();
    expect(log).toEqual(['working']);
  });
});

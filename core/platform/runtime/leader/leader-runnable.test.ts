import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeKubeClient } from '../../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import { aborted, microTime } from '../../clock.ts';
import { ApiError } from '../../kube/index.ts';
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

interface LeadOptions {
  readonly caches?: Runnable[];
  readonly leaderElection?: boolean;
  /** Of the Lease, when the process starts. */
  readonly holder?: string;
  /** Milliseconds since the Lease was renewed then. */
  readonly age?: number;
  /** The answer of the API server to the first look. */
  readonly fault?: Error;
}

function lead(
  runnables: readonly Pick<Runnable, 'run'>[],
  { caches = [], leaderElection = true, holder: other, age = 0, fault }: LeadOptions = {},
) {
  const client = new FakeKubeClient();
  const clock = new ManualClock();
  const renew = (renewTime = clock.now()): void => {
    const spec = {
      holderIdentity: other,
      leaseDurationSeconds: 15,
      renewTime: microTime(renewTime),
    };
    client.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: key,
      spec,
    });
  };
  if (other !== undefined) renew(clock.now() - age);
  client.faults.get = [fault];
  const leader = leaderRunnable(runnables, {
    client,
    namespace: key.namespace,
    leaseName: key.name,
    leaderElection,
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
  return { client, clock, abort, running, holder, renew };
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

  describe('without leader election', () => {
    const working = (log: string[]) => ({
      run: async (signal: AbortSignal) => (log.push('working'), aborted(signal)),
    });

    test('works at once where nobody holds the lease, and renews nothing', async () => {
      const log: string[] = [];
      const caches = [aCache(Promise.resolve(), log)];
      const { holder } = lead([working(log)], { caches, leaderElection: false });
      await settle();
      expect(log).toEqual(['working']);
      expect(holder()).toBeUndefined();
    });

    test('fails while another process holds the lease and renews it', async () => {
      const log: string[] = [];
      const { renew, clock, running } = lead([working(log)], {
        leaderElection: false,
        holder: 'core-1',
      });
      await settle();
      expect(log).toEqual([]);
      clock.advance(2_000);
      renew();
      await settle();
      clock.advance(2_000);
      expect(await running).toBe(
        'Error: core-1 holds Lease system/lock and renews it: it reconciles what this process would. ' +
          'Stop it first, or let this process wait for the Lease (--leader-elect)',
      );
      expect(log).toEqual([]);
    });

    test('works once the lease of a killed process has expired', async () => {
      const log: string[] = [];
      const { clock } = lead([working(log)], { leaderElection: false, holder: 'core-1' });
      await settle();
      for (let seconds = 0; seconds < 14; seconds += 2) {
        clock.advance(2_000);
        await settle();
      }
      expect(log).toEqual([]);
      clock.advance(2_000);
      await settle();
      expect(log).toEqual(['working']);
    });

    test('works at once where the holder was killed long ago', async () => {
      const log: string[] = [];
      lead([working(log)], { leaderElection: false, holder: 'core-1', age: 151_000 });
      await settle();
      expect(log).toEqual(['working']);
    });

    test.each([
      [403, 'works without the right to read leases'],
      [500, 'looks again when the API server fails'],
    ])('%i: %s', async (code) => {
      const log: string[] = [];
      const fault = new ApiError(code, { reason: 'Refused' });
      const { clock } = lead([working(log)], { leaderElection: false, fault });
      await settle();
      expect(log).toEqual(code === 403 ? ['working'] : []);
      clock.advance(2_000);
      await settle();
      expect(log).toEqual(['working']);
    });
  });
});

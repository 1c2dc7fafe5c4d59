import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FakeKubeClient } from '../../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import { LeaderElector } from './leader-elector.ts';
import type { Lease } from './lease-lock.ts';

const key = { namespace: 'system', name: 'lock' };

afterEach(() => {
  vi.useRealTimers();
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await setImmediate();
}

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await settle();
  }
}

/** One process that wants to lead. */
function candidate(identity: string, client: FakeKubeClient, clock: ManualClock) {
  const log: string[] = [];
  const work = Promise.withResolvers<void>();
  const abort = new AbortController();
  const elector = new LeaderElector({ client, ...key, identity, clock, logger: silentLogger });
  const running = elector
    .run(abort.signal, {
      onStarted: async (signal, lost) => {
        log.push('started');
        lost.addEventListener('abort', () => log.push('aborted'));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        log.push('stopping');
        await work.promise;
        log.push('finished');
      },
      onLost: () => log.push('lost'),
    })
    .catch((error: unknown) => String(error));
  return { log, work, abort, running };
}

function leaseOf(client: FakeKubeClient): Lease['spec'] {
  const lease: Lease | undefined = client.peek(key);
  return lease?.spec;
}

describe('LeaderElector', () => {
  test('takes a free lease and keeps renewing it', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    expect(a.log).toEqual(['started']);
    expect(leaseOf(client)).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await pass(clock, 60_000);
    expect(a.log).toEqual(['started']);
    expect(leaseOf(client)).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('renews without reading, and reads where somebody else has changed the lease', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    await pass(clock, 4000);
    expect(client.calls).toEqual(['get', 'create', 'update', 'update']);
    client.put({ ...client.peek(key), metadata: { ...key, labels: { a: 'b' } } } as Lease);
    await pass(clock, 2000);
    expect(client.calls.slice(4)).toEqual(['update', 'get', 'update']);
    client.drop(key);
    await pass(clock, 2000);
    expect(client.calls.slice(7)).toEqual(['update', 'get', 'create']);
    expect(a.log).toEqual(['started']);
  });

  test('only one leads; the next one waits until a crashed leader has not renewed for 15 s', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const live = { holderIdentity: 'crashed', leaseDurationSeconds: 15, leaseTransitions: 4 };
    client.put({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec: live });
    const b = candidate('b', client, clock);
    await pass(clock, 14_000);
    expect(b.log).toEqual([]);
    await pass(clock, 4000);
    expect(b.log).toEqual(['started']);
    expect(leaseOf(client)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 5 });
  });

  test('does not trust the clock of the holder', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const old = {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      renewTime: '2001-01-01T00:00:00Z',
    };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec: old };
    client.put(lease);
    const b = candidate('b', client, clock);
    for (let renewal = 0; renewal < 10; renewal++) {
      await pass(clock, 10_000);
      client.put(lease);
    }
    expect(b.log).toEqual([]);
  });

  test('no other process leads after a clock was changed', async () => {
    const client = new FakeKubeClient();
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const a = candidate('a', client, clocks[0]);
    await settle();
    const b = candidate('b', client, clocks[1]);
    clocks[0].set(clocks[0].now() - 3_600_000);
    clocks[1].set(clocks[1].now() + 3_600_000);
    for (let passed = 0; passed < 60_000; passed += 500) {
      for (const clock of clocks) await pass(clock, 500);
    }
    expect(a.log).toEqual(['started']);
    expect(b.log).toEqual([]);
    // The leader that cannot renew any more must know it before the lease ends for the other.
    const failing = Promise.reject(new Error('cannot reach the API server'));
    failing.catch(() => undefined);
    client.update = async () => await failing;
    clocks[0].set(clocks[0].now() - 3_600_000);
    await pass(clocks[0], 13_000);
    expect(a.log).toContain('lost');
  });

  test('holds the lease until the work is finished, then hands it over at once', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    const b = candidate('b', client, clock);
    a.abort.abort();
    await pass(clock, 30_000);
    expect(a.log).toEqual(['started', 'stopping']);
    expect(b.log).toEqual([]);
    a.work.resolve();
    expect(await a.running).toBeUndefined();
    expect(leaseOf(client)).toMatchObject({ holderIdentity: '' });
    await pass(clock, 3000);
    expect(b.log).toEqual(['started']);
    expect(leaseOf(client)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('gives back a lease that it has renewed without hearing of it', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    const lease = client.peek(key);
    if (lease === undefined) throw new Error('there is no lease');
    client.put(lease);
    a.work.resolve();
    a.abort.abort();
    await pass(clock, 3_000);
    await a.running;
    expect(leaseOf(client)?.holderIdentity).toBe('');
  });

  test('rides out errors shorter than 10 s', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    client.faults.update = [new Error('away'), new Error('away'), new Error('away')];
    await pass(clock, 20_000);
    expect(a.log).toEqual(['started']);
  });

  test('stops leading when it cannot renew for 10 s', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    client.faults.update = Array.from({ length: 99 }, () => new Error('away'));
    await pass(clock, 9000);
    expect(a.log).toEqual(['started']);
    await pass(clock, 3000);
    expect(await a.running).toBe('Error: leadership is lost: the lease was not renewed in time');
    expect(a.log).toEqual(['started', 'aborted', 'lost', 'stopping']);
  });

  test('stops leading when a renewal hangs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    client.beforeCall = async (_, signal) =>
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    clock.advance(2000);
    await settle();
    clock.advance(8000);
    vi.advanceTimersByTime(8000);
    await settle();
    clock.advance(2000);
    await settle();
    expect(a.log).toContain('lost');
  });

  test('counts the 10 s from when it asked for the lease, not from a late answer', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const answer = Promise.withResolvers<void>();
    const create = client.create.bind(client);
    client.create = async (...call) => {
      const lease = await create(...call);
      await answer.promise;
      return lease;
    };
    const a = candidate('a', client, clock);
    await settle();
    client.faults.update = Array.from({ length: 99 }, () => new Error('away'));
    await pass(clock, 8000);
    answer.resolve();
    await settle();
    expect(a.log).toEqual(['started']);
    await pass(clock, 4000);
    expect(a.log).toContain('lost');
  });

  test('leads where the API server takes four seconds for each answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    client.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'system', name: 'lock' },
      spec: { holderIdentity: '', leaseDurationSeconds: 1 },
    });
    client.beforeCall = async (_, signal) => await clock.sleep(4000, signal);
    const a = candidate('a', client, clock);
    for (let passed = 0; passed < 60_000; passed += 500) {
      clock.advance(500);
      vi.advanceTimersByTime(500);
      await settle();
    }
    expect(a.log).toEqual(['started']);
  });

  test('stops leading at once when another holds the lease', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    const stolen = {
      ...client.peek(key)!,
      spec: { holderIdentity: 'b', leaseDurationSeconds: 15 },
    };
    client.put(stolen);
    await pass(clock, 2500);
    expect(a.log).toContain('lost');
    expect(await a.running).toBe('Error: leadership is lost: b holds the lease now');
    expect(leaseOf(client)).toMatchObject({ holderIdentity: 'b' });
  });

  test('tells its work of a lease that is lost while it stops', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    a.abort.abort(new Error('the process stops'));
    await pass(clock, 2500);
    expect(a.log).toEqual(['started', 'stopping']);
    client.faults.update = Array.from({ length: 99 }, () => new Error('away'));
    await pass(clock, 13_000);
    expect(a.log).toEqual(['started', 'stopping', 'aborted', 'lost']);
    expect(await a.running).toContain('leadership is lost');
  });

  test('takes back a lease that somebody deleted', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const a = candidate('a', client, clock);
    await settle();
    client.drop(key);
    await pass(clock, 12_000);
    expect(a.log).toEqual(['started']);
    expect(leaseOf(client)).toMatchObject({ holderIdentity: 'a' });
  });

  test('two that start together do not both lead', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    const both = [candidate('a', client, clock), candidate('b', client, clock)];
    await pass(clock, 40_000);
    expect(both.flatMap(({ log }) => log)).toEqual(['started']);
  });

  test('gives up waiting when stopped', async () => {
    const client = new FakeKubeClient();
    const clock = new ManualClock();
    candidate('a', client, clock);
    await settle();
    const b = candidate('b', client, clock);
    await settle();
    b.abort.abort();
    expect(await b.running).toBeUndefined();
    expect(b.log).toEqual([]);
  });

  test('ends with the error of the work, and without the lease', async () => {
    const client = new FakeKubeClient();
    const elector = new LeaderElector({
      client,
      ...key,
      identity: 'a',
      clock: new ManualClock(),
      logger: silentLogger,
    });
    const onLost = vi.fn<() => void>();
    const onStarted = async (): Promise<void> => {
      throw new Error('the work failed');
    };
    const running = elector.run(new AbortController().signal, { onStarted, onLost });
    await expect(running).rejects.toThrow('the work failed');
    expect(leaseOf(client)).toMatchObject({ holderIdentity: '' });
    expect(onLost).not.toHaveBeenCalled();
  });

  test('an error of the work is no unhandled rejection while the lease is given back', async () => {
    const unhandled = vi.fn<() => void>();
    process.on('unhandledRejection', unhandled);
    const client = new FakeKubeClient();
    client.beforeCall = async (call) => {
      if (call === 'update') await settle();
    };
    const elector = new LeaderElector({
      client,
      ...key,
      identity: 'a',
      clock: new ManualClock(),
      logger: silentLogger,
    });
    const onStarted = async (): Promise<void> => await Promise.reject(new Error('it failed'));
    const running = elector.run(new AbortController().signal, { onStarted, onLost: () => {} });
    await expect(running).rejects.toThrow('it failed');
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

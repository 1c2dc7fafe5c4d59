import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { FakeKubeClient } from '../../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../../test/helpers/silent-logger.ts';
import type { Logger } from '../../../contracts/logger.ts';
import { ApiError } from '../api-error.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions, ReflectorSink } from './reflector-options.ts';

const widgets = { group: 'x', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: false };

function aWidget(name: string, fields: object = {}): KubernetesObject {
  return { apiVersion: 'x/v1', kind: 'Widget', metadata: { name }, ...fields };
}

/** The names it holds, and every call in order. */
class RecordingSink implements ReflectorSink {
  readonly calls: string[] = [];
  names = new Set<string>();

  replace(items: readonly KubernetesObject[]): void {
    this.names = new Set(items.map(nameOf));
    this.calls.push(`replace ${[...this.names].join(' ')}`.trim());
  }

  upsert(item: KubernetesObject): void {
    this.names.add(nameOf(item));
    this.calls.push(`upsert ${nameOf(item)}`);
  }

  remove(item: KubernetesObject): void {
    this.names.delete(nameOf(item));
    this.calls.push(`remove ${nameOf(item)}`);
  }
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function start(options: Partial<ReflectorOptions> = {}, client = new FakeKubeClient()) {
  const clock = new ManualClock();
  const sink = new RecordingSink();
  const logged: string[] = [];
  const log = (_: object, message: string): void => void logged.push(message);
  const logger: Logger = { ...silentLogger, warn: log, info: log };
  const reflector = new Reflector({ client, resource: widgets, sink, clock, logger, ...options });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    await running;
  };
  stops.push(stop);
  return { client, clock, sink, logged, reflector, stop };
}

/** Lets everything happen that needs no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

describe('Reflector', () => {
  test('lists page by page, then follows the watch', async () => {
    const client = new FakeKubeClient();
    for (const name of ['a', 'b', 'c']) client.put(aWidget(name));
    const { sink, reflector } = start({ pageSize: 2 }, client);
    expect(reflector.synced).toBe(false);
    await reflector.whenSynced(AbortSignal.timeout(120_000));
    expect(reflector.synced).toBe(true);
    await settle();
    client.put(aWidget('d'));
    client.put(aWidget('a'));
    client.drop({ name: 'b' });
    await settle();
    expect(sink.calls).toEqual(['replace a b c', 'upsert d', 'upsert a', 'remove b']);
    expect(client.calls).toEqual(['list', 'list', 'watch']);
  });

  test('misses nothing that happens between list and watch', async () => {
    const client = new FakeKubeClient();
    client.beforeCall = (call) => {
      if (call === 'watch') client.put(aWidget('late'));
    };
    const { sink } = start({}, client);
    await settle();
    expect(sink.names).toEqual(new Set(['late']));
  });

  test('resumes where the watch ended, without a list', async () => {
    const { client, clock, sink } = start();
    await settle();
    clock.advance(1000);
    client.endWatches();
    client.put(aWidget('between'));
    await settle();
    expect(sink.calls).toEqual(['replace', 'upsert between']);
    // The list of one object tells whether the place still counts.
    expect(client.calls).toEqual(['list', 'watch', 'list', 'watch']);
  });

  test('moves on with bookmarks', async () => {
    const { client, clock } = start();
    await settle();
    const resourceVersion = client.compact();
    const bookmark = { ...aWidget(''), metadata: { resourceVersion } };
    client.send({ type: 'BOOKMARK', object: bookmark });
    await settle();
    clock.advance(1000);
    client.endWatches();
    await settle();
    expect(client.calls).toEqual(['list', 'watch', 'list', 'watch']);
  });

  test('lists again at once where the server forgot the place (HTTP 410)', async () => {
    const { client, clock, sink, logged } = start();
    await settle();
    client.put(aWidget('a'));
    await settle();
    clock.advance(1000);
    client.endWatches();
    client.drop({ name: 'a' });
    client.put(aWidget('b'));
    client.compact();
    await settle();
    expect(sink.names).toEqual(new Set(['b']));
    expect(client.calls).toEqual(['list', 'watch', 'list', 'watch', 'list', 'watch']);
    expect(logged).toEqual([]);
  });

  test('lists again at once after an ERROR event with 410', async () => {
    const { client, sink } = start();
    await settle();
    client.put(aWidget('a'));
    await settle();
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    client.send({ type: 'ERROR', object: status as unknown as KubernetesObject });
    await settle();
    expect(client.calls).toEqual(['list', 'watch', 'list', 'watch']);
    expect(sink.calls).toEqual(['replace', 'upsert a', 'replace a']);
  });

  test('does not list in a hurry where the server forgets at once again and again', async () => {
    const client = new FakeKubeClient();
    client.faults.watch = Array.from({ length: 50 }, () => new ApiError(410, { reason: 'Gone' }));
    start({}, client);
    await settle();
    expect(client.count('list')).toBe(1);
  });

  test('waits ever longer after errors, and never gives up', async () => {
    const client = new FakeKubeClient();
    client.faults.list = Array.from({ length: 12 }, () => new Error('away'));
    const { clock, reflector, logged, sink } = start({}, client);
    const tries: number[] = [];
    for (let second = 1; second <= 400 && !reflector.synced; second++) {
      const before = client.count('list');
      await settle();
      if (client.count('list') > before) tries.push(second);
      clock.advance(1000);
    }
    expect(reflector.synced).toBe(true);
    expect(sink.calls).toEqual(['replace']);
    expect(client.count('list')).toBe(13);
    const gaps = tries.map((second, index) => second - (tries[index - 1] ?? 0)).slice(1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(31);
    expect(gaps.at(-1)).toBeGreaterThan(15);
    expect(logged).toEqual(['cannot list or watch']);
  });

  test('waits ever longer also where each watch takes its time to fail', async () => {
    const { client, clock, reflector, logged } = start();
    client.beforeCall = async (call, signal) => {
      if (call !== 'watch') return;
      await clock.sleep(9_000, signal);
      throw new Error('connect ETIMEDOUT');
    };
    const tries: number[] = [];
    for (let second = 1; second <= 300; second++) {
      const before = client.count('watch');
      await settle();
      if (client.count('watch') > before) tries.push(second);
      clock.advance(1000);
    }
    const gaps = tries.map((second, index) => second - (tries[index - 1] ?? 0)).slice(1);
    expect(gaps.at(-1)).toBeGreaterThan(9 + 15);
    expect(reflector.lastError?.message).toBe('connect ETIMEDOUT');
    expect(logged).toEqual(['cannot list or watch']);
  });

  test('reports its error, and its recovery', async () => {
    const client = new FakeKubeClient();
    client.faults.list = [new ApiError(403, { message: 'widgets is forbidden' })];
    const { clock, reflector, logged } = start({}, client);
    await settle();
    expect(reflector.lastError?.message).toBe('widgets is forbidden');
    expect(reflector.synced).toBe(false);
    clock.advance(2000);
    await settle();
    expect(reflector.synced).toBe(true);
    expect(reflector.failingFor).toBe(2000);
    clock.advance(5000);
    await settle();
    expect(reflector.lastError).toBeUndefined();
    expect(reflector.failingFor).toBe(0);
    expect(logged).toEqual(['cannot list or watch', 'watching again']);
  });

  test('a refused watch is not retried faster for a list that works', async () => {
    const client = new FakeKubeClient();
    client.faults.watch = Array.from({ length: 99 }, () => new ApiError(403, { message: 'no' }));
    const { clock } = start({}, client);
    for (let second = 0; second < 60; second++) {
      await settle();
      clock.advance(1000);
    }
    expect(client.count('list')).toBeLessThan(9);
  });

  test('resumes from the last event after the connection broke', async () => {
    const { client, clock, sink } = start();
    await settle();
    client.put(aWidget('a'));
    await settle();
    client.endWatches(new Error('socket hang up'));
    await settle();
    client.put(aWidget('b'));
    expect(client.count('watch')).toBe(1);
    clock.advance(2000);
    await settle();
    expect(sink.calls).toEqual(['replace', 'upsert a', 'upsert b']);
  });

  test.each([
    ['in one piece', 'refused', ['list', 'list', 'watch']],
    ['as a stream', 'sent', ['list', 'watch']],
  ] as const)(
    'takes everything anew, %s, where the store was restored',
    async (_, initialEvents, calls) => {
      const client = new FakeKubeClient();
      client.initialEvents = initialEvents;
      client.put(aWidget('a'));
      const restore = client.snapshot();
      const { clock, sink } = start({}, client);
      await settle();
      client.put(aWidget('b'));
      await settle();
      client.calls.length = 0;
      restore();
      client.endWatches(new Error('socket hang up'));
      await settle();
      clock.advance(2000);
      await settle();
      expect(sink.calls.at(-1)).toBe('replace a');
      client.put(aWidget('c'));
      await settle();
      expect(sink.names).toEqual(new Set(['a', 'c']));
      expect(client.calls).toEqual(calls);
    },
  );

  test('takes everything anew after the server was away, however far its store is by now', async () => {
    const client = new FakeKubeClient();
    client.initialEvents = 'sent';
    client.put(aWidget('a'));
    const restore = client.snapshot();
    const { clock, sink } = start({}, client);
    await settle();
    client.drop({ name: 'a' });
    await settle();
    expect(sink.names).toEqual(new Set());
    client.faults.list = [new Error('connect ECONNREFUSED')];
    restore();
    for (let change = 0; change < 9; change++) client.put(aWidget('b'));
    client.endWatches(new Error('socket hang up'));
    await settle();
    // Two pauses of its back-off, of at most 1.6 and 3.2 seconds.
    for (let second = 0; second < 6; second++) {
      clock.advance(1_000);
      await settle();
    }
    expect(sink.names).toEqual(new Set(['a', 'b']));
  });

  test('asks for nothing where a watch has lasted its time', async () => {
    const { client, clock } = start();
    await settle();
    clock.advance(600_000);
    client.endWatches();
    await settle();
    expect(client.calls).toEqual(['list', 'watch', 'watch']);
  });

  test('pauses where watches end at once', async () => {
    const client = new FakeKubeClient();
    const { clock } = start({}, client);
    for (let round = 0; round < 20; round++) {
      await settle();
      client.endWatches();
    }
    expect(client.count('watch')).toBe(1);
    clock.advance(2000);
    await settle();
    expect(client.count('watch')).toBe(2);
  });

  test('passes on repeated events and leaves judging them to the sink', async () => {
    const { client, sink } = start();
    await settle();
    const object = client.put(aWidget('a'));
    client.send({ type: 'ADDED', object });
    await settle();
    expect(sink.calls).toEqual(['replace', 'upsert a', 'upsert a']);
  });

  test('takes the list in one piece where its pages expire', async () => {
    const client = new FakeKubeClient();
    for (const name of ['a', 'b', 'c']) client.put(aWidget(name));
    client.faults.list = [undefined, new ApiError(410, { reason: 'Expired' })];
    const { sink } = start({ pageSize: 1 }, client);
    await settle();
    expect(sink.calls).toEqual(['replace a b c']);
    expect(client.count('list')).toBe(3);
  });

  test.each(['refused', 'sent'] as const)(
    'is renewed on request, past a watch that is open and silent (initial events %s)',
    async (initialEvents) => {
      const client = new FakeKubeClient();
      client.initialEvents = initialEvents;
      client.put(aWidget('old'));
      const { sink, reflector } = start({}, client);
      await settle();
      client.silenceWatches();
      client.drop({ name: 'old' });
      client.put(aWidget('new'));
      await settle();
      expect(sink.names).toEqual(new Set(['old']));
      await reflector.refresh(AbortSignal.timeout(60_000));
      expect(sink.names).toEqual(new Set(['new']));
      client.put(aWidget('newer'));
      await settle();
      expect(sink.names).toEqual(new Set(['new', 'newer']));
      expect(client.openWatches).toBe(1);
    },
  );

  test('a list that began before the request to renew does not count', async () => {
    const client = new FakeKubeClient();
    client.put(aWidget('old'));
    const answer = Promise.withResolvers<void>();
    let lists = 0;
    client.afterCall = async (call) => {
      if (call === 'list' && ++lists === 1) await answer.promise;
    };
    const { sink, reflector } = start({}, client);
    await settle();
    client.drop({ name: 'old' });
    client.put(aWidget('new'));
    const renewed = reflector.refresh(AbortSignal.timeout(60_000));
    answer.resolve();
    await renewed;
    expect(sink.calls).toEqual(['replace new']);
  });

  test('a request to renew ends the pause after an error, and is heard until it succeeds', async () => {
    const client = new FakeKubeClient();
    const { sink, clock, reflector } = start({}, client);
    await settle();
    client.faults.list = [new Error('away'), new Error('still away')];
    client.endWatches(new Error('away'));
    await settle();
    client.put(aWidget('new'));
    clock.advance(1_600);
    await settle();
    const renewed = reflector.refresh(AbortSignal.timeout(60_000));
    await settle();
    expect(sink.names).toEqual(new Set());
    clock.advance(30_000);
    await renewed;
    expect(sink.names).toEqual(new Set(['new']));
  });

  test('a request to renew can be aborted', async () => {
    const { client, reflector } = start();
    await settle();
    client.faults.list = [new Error('away')];
    const abort = new AbortController();
    const renewed = reflector.refresh(abort.signal);
    abort.abort(new Error('the process stops'));
    await expect(renewed).rejects.toThrow('the process stops');
  });

  test('strips managedFields, or does what it is told instead', async () => {
    const managed = { ...aWidget('a'), spec: { size: 1 } };
    const client = new FakeKubeClient();
    client.put({ ...managed, metadata: { name: 'a', managedFields: [{}] } as object });
    const received: KubernetesObject[] = [];
    const sink = {
      ...emptySink,
      replace: (items: readonly KubernetesObject[]) => void received.push(...items),
    };
    start({ sink }, client);
    await settle();
    expect(received[0]?.metadata).not.toHaveProperty('managedFields');
    expect(received[0]?.['spec']).toEqual({ size: 1 });
    const transform = ({ apiVersion, kind, metadata }: KubernetesObject) => ({
      apiVersion,
      kind,
      metadata,
    });
    start({ sink, transform }, client);
    await settle();
    expect(received[1]).not.toHaveProperty('spec');
  });

  test('survives a sink that throws', async () => {
    let failures = 0;
    const sink = {
      ...emptySink,
      replace: () => {
        if (failures++ === 0) throw new Error('a bug');
      },
    };
    const { clock, reflector } = start({ sink });
    await settle();
    expect(reflector.lastError?.message).toBe('a bug');
    clock.advance(2000);
    await settle();
    expect(reflector.synced).toBe(true);
  });

  test.each(['list', 'watch'] as const)('stops at once within a %s', async (call) => {
    const client = new FakeKubeClient();
    client.beforeCall = async (made, signal) => {
      if (made !== call) return;
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    };
    const { stop, sink, reflector } = start({}, client);
    await settle();
    await stop();
    expect(client.openWatches).toBe(0);
    expect(sink.calls).toHaveLength(call === 'list' ? 0 : 1);
    expect(reflector.lastError).toBeUndefined();
  });

  test('stops at once within an open watch and within a pause', async () => {
    const open = start();
    await settle();
    await open.stop();
    expect(open.client.openWatches).toBe(0);
    const failing = new FakeKubeClient();
    failing.faults.list = [new Error('away')];
    const pausing = start({}, failing);
    await settle();
    await pausing.stop();
    expect(failing.count('list')).toBe(1);
  });

  test('a wait for the sync can be aborted', async () => {
    const client = new FakeKubeClient();
    client.faults.list = [new Error('away')];
    const { reflector } = start({}, client);
    const abort = new AbortController();
    const waiting = reflector.whenSynced(abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

const emptySink: ReflectorSink = {
  replace: () => undefined,
  upsert: () => undefined,
  remove: () => undefined,
};

describe('a server that streams its lists', () => {
  function streaming(...names: readonly string[]): FakeKubeClient {
    const client = new FakeKubeClient();
    client.initialEvents = 'sent';
    for (const name of names) client.put(aWidget(name));
    return client;
  }

  test('is asked once, for everything and what comes after it', async () => {
    const client = streaming('a', 'b');
    const { sink, reflector } = start({}, client);
    await reflector.whenSynced(AbortSignal.timeout(120_000));
    client.put(aWidget('c'));
    await settle();
    expect(sink.calls).toEqual(['replace a b', 'upsert c']);
    expect(client.calls).toEqual(['watch']);
  });

  test('says which objects are gone when its history is', async () => {
    const client = streaming('a', 'b');
    const { clock, sink } = start({}, client);
    await settle();
    clock.advance(6_000);
    await settle();
    client.drop({ name: 'a' });
    client.compact();
    client.endWatches();
    await settle();
    expect(sink.calls.at(-1)).toBe('replace b');
    expect(client.calls).toEqual(['watch', 'list', 'watch', 'watch']);
  });

  test('that breaks off in the middle is asked anew, and half a list is none', async () => {
    const client = streaming('a');
    client.initialEvents = 'ignored';
    const { clock, sink } = start({}, client);
    await settle();
    client.put(aWidget('b'));
    await settle();
    expect(sink.calls).toEqual([]);
    client.initialEvents = 'sent';
    client.endWatches(new Error('connection reset'));
    await settle();
    clock.advance(2_000);
    await settle();
    expect(sink.calls).toEqual(['replace a b']);
  });

  test('is not taken for one that does not when its answer is late', async () => {
    const client = streaming('a');
    const { clock, sink } = start({}, client);
    client.beforeCall = async (_, signal) => await clock.sleep(20_000, signal);
    await settle();
    clock.advance(10_000);
    await settle();
    expect(client.calls).toEqual(['watch']);
    clock.advance(10_000);
    await settle();
    expect(sink.calls).toEqual(['replace a']);
    expect(client.calls).toEqual(['watch']);
  });

  test.each(['silence', 'a bookmark'])(
    'but does not know of it: %s leads to a list',
    async (how) => {
      const client = streaming('a');
      client.initialEvents = 'ignored';
      const { clock, sink } = start({}, client);
      await settle();
      const metadata = { resourceVersion: '1' };
      if (how === 'silence') clock.advance(10_000);
      else
        client.send({ type: 'BOOKMARK', object: { apiVersion: 'x/v1', kind: 'Widget', metadata } });
      await settle();
      expect(sink.calls).toEqual(['replace a']);
      expect(client.calls).toEqual(['watch', 'list', 'watch']);
    },
  );
});

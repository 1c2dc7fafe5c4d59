import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { Manager, type Runnable } from './manager.ts';

/** Writes down what happens to it; stops and gets ready when it is let. */
function aRunnable(name: string, log: string[], { holdStop = false, holdReady = false } = {}) {
  const stopped = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  if (!holdStop) stopped.resolve();
  if (!holdReady) ready.resolve();
  const runnable: Runnable = {
    name,
    run: async (signal) => {
      log.push(`start ${name}`);
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.race([aborted, failed.promise]);
      log.push(`stop ${name}`);
      await stopped.promise;
      log.push(`end ${name}`);
    },
    ready: async () => await ready.promise,
  };
  return { runnable, stopped, ready, failed };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

describe('Manager', () => {
  test('starts a stage when the one before is ready, and stops in reverse', async () => {
    const log: string[] = [];
    const cache = aRunnable('cache', log, { holdReady: true });
    const other = aRunnable('other', log);
    const controller = aRunnable('controller', log, { holdStop: true });
    const manager = new Manager(silentLogger);
    manager.add(cache.runnable, other.runnable);
    manager.add(controller.runnable);
    const abort = new AbortController();
    const running = manager.run(abort.signal);
    await settle();
    expect(log).toEqual(['start cache', 'start other']);
    cache.ready.resolve();
    await settle();
    expect(log).toEqual(['start cache', 'start other', 'start controller']);
    log.length = 0;
    abort.abort();
    await settle();
    expect(log).toEqual(['stop controller']);
    controller.stopped.resolve();
    await running;
    expect(log).toEqual([
      'stop controller',
      'end controller',
      'stop cache',
      'stop other',
      'end cache',
      'end other',
    ]);
  });

  test('one that fails stops all, and its error is the result', async () => {
    const log: string[] = [];
    const cache = aRunnable('cache', log);
    const server = aRunnable('server', log);
    const manager = new Manager(silentLogger);
    manager.add(cache.runnable);
    manager.add(server.runnable);
    const running = manager.run(new AbortController().signal);
    await settle();
    server.failed.reject(new Error('port taken'));
    await expect(running).rejects.toThrow('port taken');
    expect(log).toContain('end cache');
  });

  test('one that fails while others get ready ends the start', async () => {
    const log: string[] = [];
    const cache = aRunnable('cache', log, { holdReady: true });
    const server = aRunnable('server', log);
    const manager = new Manager(silentLogger);
    manager.add(cache.runnable, server.runnable);
    manager.add(aRunnable('controller', log).runnable);
    const running = manager.run(new AbortController().signal);
    server.failed.reject(new Error('port taken'));
    await expect(running).rejects.toThrow('port taken');
    expect(log).not.toContain('start controller');
    expect(log).toContain('end cache');
  });

  test('one that cannot get ready stops all', async () => {
    const log: string[] = [];
    const broken = aRunnable('broken', log, { holdReady: true });
    const manager = new Manager(silentLogger);
    manager.add(broken.runnable);
    const running = manager.run(new AbortController().signal);
    broken.ready.reject(new Error('never'));
    await expect(running).rejects.toThrow('never');
    expect(log).toEqual(['start broken', 'stop broken', 'end broken']);
  });

  test('can be stopped while it starts', async () => {
    const log: string[] = [];
    const cache = aRunnable('cache', log, { holdReady: true });
    const manager = new Manager(silentLogger);
    manager.add(cache.runnable);
    manager.add(aRunnable('controller', log).runnable);
    const abort = new AbortController();
    const running = manager.run(abort.signal);
    await settle();
    abort.abort();
    await running;
    expect(log).toEqual(['start cache', 'stop cache', 'end cache']);
  });

  test('one that ends by itself does not end the others', async () => {
    const log: string[] = [];
    const manager = new Manager(silentLogger);
    manager.add({ name: 'once', run: async () => void log.push('once') });
    manager.add(aRunnable('server', log).runnable);
    const abort = new AbortController();
    const running = manager.run(abort.signal);
    await settle();
    expect(log).toEqual(['once', 'start server']);
    abort.abort();
    await running;
  });
});

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { HostLimiter } from './host-limiter.ts';

const { signal } = new AbortController();

describe('HostLimiter', () => {
  test('lets no more in at a host than it is to bear, and others go their way', async () => {
    const hosts = new HostLimiter(1);
    const leave = await hosts.take('dead.example', signal);
    const order: string[] = [];
    const waiting = ['first', 'second'].map(async (name) => {
      const leave = await hosts.take('dead.example', signal);
      order.push(name);
      leave();
    });
    await hosts.take('good.example', signal);
    await setImmediate();
    expect(order).toEqual([]);
    leave();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
  });

  test('forgets hosts that nobody is at, or waits for', async () => {
    const hosts = new HostLimiter(1);
    const leave = await hosts.take('a', signal);
    const stop = new AbortController();
    const waiting = hosts.take('a', stop.signal);
    stop.abort(new Error('deleted'));
    await expect(waiting).rejects.toThrow('deleted');
    expect(hosts.size).toBe(1);
    leave();
    leave();
    expect(hosts.size).toBe(0);
  });
});

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FairSemaphore, Semaphore } from './semaphore.ts';

const { signal } = new AbortController();

describe('a semaphore', () => {
  test('lets so many in at once, the others in the order in which they came', async () => {
    const semaphore = new Semaphore(2);
    const entered: string[] = [];
    const enter = async (name: string): Promise<() => void> => {
      const leave = await semaphore.take(signal);
      entered.push(name);
      return leave;
    };
    const [a, b] = await Promise.all([enter('a'), enter('b')]);
    const later = [enter('c'), enter('d')];
    await setImmediate();
    expect(entered).toEqual(['a', 'b']);
    b();
    await setImmediate();
    expect(entered).toEqual(['a', 'b', 'c']);
    a();
    await Promise.all(later);
  });

  test('takes room back once, however often it is given', async () => {
    const semaphore = new Semaphore(1);
    const leave = await semaphore.take(signal);
    leave();
    leave();
    await semaphore.take(signal);
    let entered = false;
    void semaphore.take(signal).then(() => (entered = true));
    await setImmediate();
    expect(entered).toBe(false);
  });

  test('who gives up waiting loses nobody else a turn', async () => {
    const semaphore = new Semaphore(1);
    const leave = await semaphore.take(signal);
    const stop = new AbortController();
    const given = semaphore.take(stop.signal);
    const next = semaphore.take(signal);
    stop.abort(new Error('deleted'));
    await expect(given).rejects.toThrow('deleted');
    await expect(semaphore.take(stop.signal)).rejects.toThrow('deleted');
    leave();
    await expect(next).resolves.toBeDefined();
  });

  test('a task that fails makes room too', async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error('no')), signal)).rejects.toThrow(
      'no',
    );
    await expect(semaphore.run(async () => 'yes', signal)).resolves.toBe('yes');
  });
});

describe('a fair semaphore', () => {
  test('lets creators take turns, and places come back once, however often they are given', async () => {
    const places = new FairSemaphore({ places: 1 });
    const leave = await places.take({ creator: 'mallory' }, signal);
    const order: string[] = [];
    const enter = async (creator: string): Promise<void> => {
      const giveBack = await places.take({ creator }, signal);
      order.push(creator);
      await setImmediate();
      giveBack();
      giveBack();
    };
    const all = ['mallory', 'mallory', 'mallory', 'alice', 'bob'].map(enter);
    leave();
    await Promise.all(all);
    expect(order.slice(0, 3).toSorted()).toEqual(['alice', 'bob', 'mallory']);
    expect(places.creators).toBe(0);
  });

  test('who gives up waiting loses nobody else a turn', async () => {
    const places = new FairSemaphore({ places: 1 });
    const leave = await places.take({ creator: 'a' }, signal);
    const stop = new AbortController();
    const given = places.take({ creator: 'b' }, stop.signal);
    const next = places.take({ creator: 'c' }, signal);
    stop.abort(new Error('deleted'));
    await expect(given).rejects.toThrow('deleted');
    await expect(places.take({ creator: 'b' }, stop.signal)).rejects.toThrow('deleted');
    leave();
    (await next)();
    expect(places.creators).toBe(0);
  });
});

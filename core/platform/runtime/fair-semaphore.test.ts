import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairSemaphore } from './fair-semaphore.ts';

const { signal } = new AbortController();

test('creators take turns, and places come back once, however often they are given', async () => {
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

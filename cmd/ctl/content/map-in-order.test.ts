import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { mapInOrder } from './map-in-order.ts';

async function* counting(end: number, read: number[] = []): AsyncGenerator<number> {
  for (let i = 0; i < end; i += 1) {
    read.push(i);
    yield i;
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await setImmediate();
}

describe('mapInOrder', () => {
  it('yields in the order of the items, whichever is done first', async () => {
    const slowFirst = async (item: number): Promise<number> => {
      for (let i = item; i < 5; i += 1) await setImmediate();
      return item * 10;
    };
    expect(await collect(mapInOrder(counting(6), 4, slowFirst))).toEqual([0, 10, 20, 30, 40, 50]);
  });

  it('yields a result before the next item is there', async () => {
    const next = Promise.withResolvers<void>();
    async function* conversation(): AsyncGenerator<string> {
      yield 'first';
      await next.promise;
      yield 'second';
    }
    const results = mapInOrder(conversation(), 4, (item) => Promise.resolve(item));
    expect((await results.next()).value).toBe('first');
    next.resolve();
    expect((await results.next()).value).toBe('second');
    expect((await results.next()).done).toBe(true);
  });

  it('reads no further ahead than the limit while nobody takes the results', async () => {
    const read: number[] = [];
    const results = mapInOrder(counting(100, read), 3, (item) => Promise.resolve(item));
    expect((await results.next()).value).toBe(0);
    await settle();
    expect(read).toHaveLength(3);
    expect((await results.next()).value).toBe(1);
    await settle();
    expect(read).toHaveLength(4);
  });

  it('stops reading when the consumer stops', async () => {
    const read: number[] = [];
    for await (const item of mapInOrder(counting(100, read), 3, (i) => Promise.resolve(i))) {
      if (item === 1) break;
    }
    await settle();
    expect(read.length).toBeLessThan(6);
  });

  it('yields items from before a failure of the source, then the failure', async () => {
    async function* failing(): AsyncGenerator<number> {
      yield 1;
      throw new Error('the source broke');
    }
    const results = mapInOrder(failing(), 4, (item) => Promise.resolve(item));
    expect((await results.next()).value).toBe(1);
    await settle();
    await expect(results.next()).rejects.toThrow('the source broke');
  });

  it('has nothing to say about no items', async () => {
    expect(await collect(mapInOrder(counting(0), 1, () => Promise.resolve(1)))).toEqual([]);
  });
});

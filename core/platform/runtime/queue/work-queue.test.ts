import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { RateLimiter } from './rate-limiter.ts';
import { WorkQueue } from './work-queue.ts';

const never = new AbortController().signal;

function aQueue() {
  const clock = new ManualClock();
  return { clock, queue: new WorkQueue(clock) };
}

async function next(queue: WorkQueue): Promise<string | undefined> {
  return await queue.get(AbortSignal.timeout(120_000));
}

describe('WorkQueue', () => {
  test('hands out keys in order, each once however often it was added', async () => {
    const { queue } = aQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.length).toBe(3);
    expect([await next(queue), await next(queue), await next(queue)]).toEqual(['a', 'b', 'c']);
    expect(queue.length).toBe(0);
  });

  test('a key that is worked on waits for its end', async () => {
    const { queue } = aQueue();
    queue.add('a');
    await next(queue);
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect(await next(queue)).toBe('b');
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(await next(queue)).toBe('a');
    queue.done('a');
    expect(queue.length).toBe(0);
  });

  test('wakes one waiting worker per key', async () => {
    const { queue } = aQueue();
    const first = queue.get(never);
    const second = queue.get(never);
    queue.add('a');
    expect(await first).toBe('a');
    queue.add('a');
    queue.add('b');
    expect(await second).toBe('b');
  });

  test('a worker that gave up waiting takes no key with it', async () => {
    const { queue } = aQueue();
    const abort = new AbortController();
    const gone = queue.get(abort.signal);
    abort.abort();
    queue.add('a');
    expect(await gone).toBeUndefined();
    expect(await queue.get(AbortSignal.abort())).toBeUndefined();
    expect(await next(queue)).toBe('a');
  });

  test('adds later, and of several times the earliest counts', async () => {
    const { queue, clock } = aQueue();
    queue.addAfter('a', 1000);
    queue.addAfter('a', 500);
    queue.addAfter('a', 2000);
    clock.advance(499);
    await setImmediate();
    expect(queue.length).toBe(0);
    clock.advance(1);
    await setImmediate();
    expect(await next(queue)).toBe('a');
    queue.done('a');
    clock.advance(5000);
    await setImmediate();
    expect(queue.length).toBe(0);
  });

  test.each([0, -5, Number.NaN])('adds at once after %d ms', (ms) => {
    const { queue } = aQueue();
    queue.addAfter('a', ms);
    expect(queue.length).toBe(1);
  });

  test('a delay of years does not overflow into none', async () => {
    const { queue, clock } = aQueue();
    queue.addAfter('a', 1e15);
    clock.advance(86_400_000);
    await setImmediate();
    expect(queue.length).toBe(0);
  });

  test('waits longer after each failure until the key is forgotten', async () => {
    const { queue, clock } = aQueue();
    queue.addRateLimited('a');
    queue.addRateLimited('a');
    expect(queue.retries('a')).toBe(2);
    clock.advance(5);
    await setImmediate();
    expect(queue.length).toBe(1);
    queue.forget('a');
    expect(queue.retries('a')).toBe(0);
  });

  test('the failures of one creator do not postpone the retries of another', async () => {
    const clock = new ManualClock();
    const creatorOf = (key: string): string => key.slice(0, 1);
    const queue = new WorkQueue(clock, { creatorOf });
    for (let index = 0; index < 6000; index++) queue.addRateLimited(`a-${index}`);
    queue.addRateLimited('b');
    clock.advance(5);
    await setImmediate();
    const ready: (string | undefined)[] = [];
    while (queue.length > 0) ready.push(await next(queue));
    expect(ready).toHaveLength(101);
    expect(ready).toContain('b');
  });

  test('knows how long keys wait', async () => {
    const { queue, clock } = aQueue();
    expect(queue.oldestAge).toBe(0);
    queue.add('a');
    clock.advance(30);
    queue.add('b');
    clock.advance(10);
    expect(queue.oldestAge).toBe(40);
    await next(queue);
    expect(queue.waited('a')).toBe(40);
    expect(queue.oldestAge).toBe(10);
  });

  test('after shutdown gives nothing, takes nothing and keeps no timer', async () => {
    const { queue, clock } = aQueue();
    const waiting = queue.get(never);
    queue.addAfter('later', 10);
    queue.shutDown();
    expect(await waiting).toBeUndefined();
    queue.add('a');
    clock.advance(10);
    await setImmediate();
    expect(queue.length).toBe(0);
    expect(await next(queue)).toBeUndefined();
  });

  test('never two workers on one key, and what is added is worked on afterwards', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ later: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(50) }),
      fc.record({ fail: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ advance: fc.nat(40) }),
      fc.record({ finish: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { queue, clock } = aQueue();
        const working: { readonly key: string; readonly finish: () => void }[] = [];
        /** Keys added since their last hand-out. */
        const owed = new Set<string>();
        const stop = new AbortController();
        const worker = async (): Promise<void> => {
          for (;;) {
            const key = await queue.get(stop.signal);
            if (key === undefined) return;
            expect(working.map((work) => work.key)).not.toContain(key);
            owed.delete(key);
            const work = Promise.withResolvers<void>();
            const entry = { key, finish: work.resolve };
            working.push(entry);
            await work.promise;
            working.splice(working.indexOf(entry), 1);
            queue.done(key);
          }
        };
        const workers = [worker(), worker(), worker()];
        for (const action of steps) {
          if ('add' in action) {
            owed.add(action.add);
            queue.add(action.add);
          } else if ('later' in action) {
            owed.add(action.later);
            queue.addAfter(action.later, action.ms);
          } else if ('fail' in action) {
            owed.add(action.fail);
            queue.addRateLimited(action.fail);
          } else if ('advance' in action) clock.advance(action.advance);
          else working[action.finish]?.finish();
          await setImmediate();
        }
        for (let round = 0; round < 10; round++) {
          for (const { finish } of working) finish();
          clock.advance(1_000_000);
          await setImmediate();
        }
        expect([...owed]).toEqual([]);
        expect(working).toEqual([]);
        stop.abort();
        await Promise.all(workers);
      }),
      { numRuns: 150 },
    );
  });
});

describe('RateLimiter', () => {
  test('doubles from 5 ms to 1000 s for each key by itself', () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock);
    const delays = Array.from({ length: 20 }, () => {
      clock.advance(1000);
      return limiter.next('a');
    });
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.slice(-3)).toEqual([655_360, 1_000_000, 1_000_000]);
    expect(limiter.next('b')).toBe(5);
    limiter.forget('a');
    expect(limiter.retries('a')).toBe(0);
    expect(limiter.next('a')).toBe(5);
  });

  test('lets who waits for something outside wait from 1 s to 1000 s, and takes no turn of others', () => {
    const limiter = new RateLimiter(new ManualClock());
    const delays = Array.from({ length: 12 }, () => limiter.nextWaiting('a'));
    expect(delays.slice(0, 3)).toEqual([1000, 2000, 4000]);
    expect(delays.slice(-2)).toEqual([1_000_000, 1_000_000]);
    for (let key = 0; key < 1000; key++) limiter.nextWaiting(`key-${key}`);
    expect(limiter.next('b')).toBe(5);
    limiter.forget('a');
    expect(limiter.nextWaiting('a')).toBe(1000);
  });

  test('never overflows', () => {
    const limiter = new RateLimiter(new ManualClock());
    for (let failure = 0; failure < 5000; failure++) limiter.next('a');
    expect(limiter.next('a')).toBe(1_000_000);
  });

  test('lets a burst of 100 through, then 10 a second for all keys of a creator', () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock);
    for (let index = 0; index < 2000; index++) limiter.next(`of-${index}`, `creator-${index}`);
    const delays = Array.from({ length: 120 }, (_, index) => limiter.next(`key-${index}`));
    expect(delays.slice(0, 101)).toEqual([...Array(100).fill(5), 100]);
    expect(delays.at(-1)).toBe(2000);
    clock.advance(3600_000);
    const later = Array.from({ length: 101 }, (_, index) => limiter.next(`other-${index}`));
    expect(later.filter((delay) => delay === 5)).toHaveLength(100);
    expect(later.at(-1)).toBe(100);
  });
});

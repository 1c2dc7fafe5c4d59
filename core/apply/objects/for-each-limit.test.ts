import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { forEachLimit } from './for-each-limit.ts';

test('runs everything, never more than the limit at once', async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  await forEachLimit([...Array(20).keys()], 4, async (item) => {
    most = Math.max(most, ++running);
    await turn();
    running -= 1;
    done.push(item);
  });
  expect(most).toBe(4);
  expect(done).toHaveLength(20);
});

test('an error stops what has not begun and waits for what has', async () => {
  const begun: number[] = [];
  let running = 0;
  const attempt = forEachLimit([1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    running += 1;
    await turn();
    running -= 1;
    if (item === 1) throw new Error('no');
  });
  await expect(attempt).rejects.toThrow('no');
  expect(running).toBe(0);
  expect(begun).not.toContain(4);
});

test('nothing to do is fine', async () => {
  await expect(forEachLimit([], 3, async () => undefined)).resolves.toBeUndefined();
});

import { expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { RetryPolicy } from './failed-request.ts';

const error = new Error('busy');
const start = Date.parse('2026-01-01T00:00:00Z');
const { signal } = new AbortController();

/** How long it waits before each try, until it gives up. */
async function delays(isBusy: boolean, retryAfter?: string): Promise<number[]> {
  const sleeps: number[] = [];
  const now = (): number => start;
  const clock: Clock = { now, monotonic: now, sleep: async (ms) => void sleeps.push(ms) };
  const policy = new RetryPolicy(clock);
  for (;;) {
    try {
      await policy.wait({ error, isBusy, retryAfter }, signal);
    } catch (thrown) {
      expect(thrown).toBe(error);
      return sleeps;
    }
  }
}

test('what is broken is tried twice more, what is busy six times', async () => {
  expect(await delays(false)).toEqual([200, 400]);
  expect(await delays(true)).toEqual([200, 400, 800, 1600, 3200, 6400]);
});

test.each([
  ['2', [2000, 2000, 2000, 2000, 3200, 6400]],
  ['10', [10_000, 10_000, 10_000]],
  ['20', [20_000]],
  ['21', []],
  ['3600', []],
  ['Thu, 01 Jan 2026 00:00:05 GMT', [5000, 5000, 5000, 5000, 5000]],
  ['Thu, 01 Jan 2026 01:00:00 GMT', []],
  ['Wed, 31 Dec 2025 00:00:00 GMT', [200, 400, 800, 1600, 3200, 6400]],
  ['soon', [200, 400, 800, 1600, 3200, 6400]],
])('Retry-After: %s is followed for half a minute in all', async (retryAfter, expected) => {
  expect(await delays(true, retryAfter)).toEqual(expected);
});

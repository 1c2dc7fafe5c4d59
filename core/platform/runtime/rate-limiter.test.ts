import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { RateLimiter } from './rate-limiter.ts';

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

  test('lets a burst of 100 through, then 10 a second for all keys together', () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock);
    const delays = Array.from({ length: 120 }, (_, index) => limiter.next(`key-${index}`));
    expect(delays.slice(0, 101)).toEqual([...Array(100).fill(5), 100]);
    expect(delays.at(-1)).toBe(2000);
    clock.advance(3600_000);
    const later = Array.from({ length: 101 }, (_, index) => limiter.next(`other-${index}`));
    expect(later.filter((delay) => delay === 5)).toHaveLength(100);
    expect(later.at(-1)).toBe(100);
  });
});

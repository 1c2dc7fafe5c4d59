import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { AccessReview } from './access-review.ts';
import { cachedAccessReviewer } from './access-review.ts';

const request = { verb: 'get', path: '/bundles/a.tgz' };
const allowed: AccessReview = { authenticated: true, user: 'u', allowed: true };
const forbidden: AccessReview = { authenticated: true, user: 'u', allowed: false };
const { signal } = new AbortController();

function setUp(answer: () => AccessReview) {
  const state = { time: 0, calls: 0 };
  const now = (): number => state.time;
  const clock: Clock = { now, monotonic: now, sleep: () => Promise.reject(new Error('unused')) };
  const reviewer = cachedAccessReviewer(
    {
      review: async () => {
        state.calls += 1;
        return answer();
      },
    },
    clock,
  );
  return { state, reviewer };
}

describe('cachedAccessReviewer', () => {
  it.each([
    ['a yes', allowed, 10_000],
    ['a no', forbidden, 5_000],
    ['an unknown token', { authenticated: false } as const, 5_000],
  ])('remembers %s for its time', async (_, review, lifetime) => {
    const { state, reviewer } = setUp(() => review);
    await reviewer.review({ token: 't' }, request, signal);
    state.time = lifetime - 1;
    expect(await reviewer.review({ token: 't' }, request, signal)).toEqual(review);
    expect(state.calls).toBe(1);
    state.time = lifetime;
    await reviewer.review({ token: 't' }, request, signal);
    expect(state.calls).toBe(2);
  });

  it('keeps tokens, verbs and paths apart', async () => {
    const { state, reviewer } = setUp(() => allowed);
    await reviewer.review({ token: 't' }, request, signal);
    await reviewer.review({ token: 'other' }, request, signal);
    await reviewer.review({ token: 't' }, { ...request, verb: 'update' }, signal);
    await reviewer.review({ token: 't' }, { ...request, path: '/metrics' }, signal);
    expect(state.calls).toBe(4);
  });

  it('does not remember that nothing could be decided', async () => {
    let down = true;
    const { reviewer } = setUp(() => {
      if (down) throw new Error('connection refused');
      return allowed;
    });
    await expect(reviewer.review({ token: 't' }, request, signal)).rejects.toThrow(
      'connection refused',
    );
    down = false;
    expect(await reviewer.review({ token: 't' }, request, signal)).toEqual(allowed);
  });

  it('asks once for concurrent equal reviews, even if one caller leaves', async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const reviewer = cachedAccessReviewer(
      {
        review: async () => {
          calls += 1;
          await gate.promise;
          return allowed;
        },
      },
      systemClock,
    );
    const leaving = new AbortController();
    const first = reviewer.review({ token: 't' }, request, leaving.signal);
    const others = Array.from({ length: 300 }, () =>
      reviewer.review({ token: 't' }, request, signal),
    );
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    gate.resolve();
    expect(new Set(await Promise.all(others))).toEqual(new Set([allowed]));
    expect(calls).toBe(1);
  });

  it('asks for 16 at a time: strangers’ tokens leave connections for core itself', async () => {
    let running = 0;
    let most = 0;
    const reviewer = cachedAccessReviewer(
      {
        review: async () => {
          running += 1;
          most = Math.max(most, running);
          await setImmediate();
          running -= 1;
          throw new Error('refused');
        },
      },
      systemClock,
    );
    const asked = Array.from({ length: 300 }, (_, i) =>
      reviewer.review({ token: `t${i}` }, request, signal).catch((error: Error) => error.message),
    );
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['refused']));
    expect([most, running]).toEqual([16, 0]);
  });

  it('forgets the least recently used beyond a thousand', async () => {
    const { state, reviewer } = setUp(() => allowed);
    for (let i = 0; i < 1000; i += 1) await reviewer.review({ token: `t${i}` }, request, signal);
    await reviewer.review({ token: 't0' }, request, signal);
    await reviewer.review({ token: 'one more' }, request, signal);
    expect(state.calls).toBe(1001);
    await reviewer.review({ token: 't0' }, request, signal);
    expect(state.calls).toBe(1001);
    await reviewer.review({ token: 't1' }, request, signal);
    expect(state.calls).toBe(1002);
  });
});

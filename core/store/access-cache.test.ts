import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { abortable, type Clock, systemClock } from '../platform/clock.ts';
import type { AccessReview } from './access-review.ts';
import { cachedAccessReviewer, TooManyReviews } from './access-review.ts';

const request = { verb: 'get', path: '/bundles/a.tgz' };
const allowed: AccessReview = { authenticated: true, user: 'u', allowed: true };
const forbidden: AccessReview = { authenticated: true, user: 'u', allowed: false };
const { signal } = new AbortController();
const client = { address: '10.0.0.1', signal };

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
    await reviewer.review({ token: 't' }, request, client);
    state.time = lifetime - 1;
    expect(await reviewer.review({ token: 't' }, request, client)).toEqual(review);
    expect(state.calls).toBe(1);
    state.time = lifetime;
    await reviewer.review({ token: 't' }, request, client);
    expect(state.calls).toBe(2);
  });

  it('keeps tokens, verbs and paths apart', async () => {
    const { state, reviewer } = setUp(() => allowed);
    await reviewer.review({ token: 't' }, request, client);
    await reviewer.review({ token: 'other' }, request, client);
    await reviewer.review({ token: 't' }, { ...request, verb: 'update' }, client);
    await reviewer.review({ token: 't' }, { ...request, path: '/metrics' }, client);
    expect(state.calls).toBe(4);
  });

  it('does not remember that nothing could be decided', async () => {
    let down = true;
    const { reviewer } = setUp(() => {
      if (down) throw new Error('connection refused');
      return allowed;
    });
    await expect(reviewer.review({ token: 't' }, request, client)).rejects.toThrow(
      'connection refused',
    );
    down = false;
    expect(await reviewer.review({ token: 't' }, request, client)).toEqual(allowed);
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
    const first = reviewer.review({ token: 't' }, request, { ...client, signal: leaving.signal });
    const others = Array.from({ length: 300 }, () =>
      reviewer.review({ token: 't' }, request, client),
    );
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    gate.resolve();
    expect(new Set(await Promise.all(others))).toEqual(new Set([allowed]));
    expect(calls).toBe(1);
  });

  /** Each review waits until the test answers it. */
  function aSlowApiServer() {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const reviewer = cachedAccessReviewer(
      {
        review: async (caller, _, signal) => {
          const { promise, resolve } = Promise.withResolvers<AccessReview>();
          asked.push('token' in caller ? caller.token : '');
          answers.push(() => resolve(allowed));
          return await abortable(promise, signal);
        },
      },
      systemClock,
    );
    const review = async (address: string, index = 0, signal = client.signal) =>
      await reviewer
        .review({ token: `${address} ${index}` }, request, { address, signal })
        .catch((error: Error) => error);
    /** Of as many tokens. */
    const reviews = (count: number, address: string, signal = client.signal) =>
      Array.from({ length: count }, (_, index) => review(address, index, signal));
    return { asked, answers, review, reviews };
  }

  it('asks for 16 at a time: strangers’ tokens leave connections for core itself', async () => {
    const { asked, answers, reviews } = aSlowApiServer();
    const all = ['a', 'b', 'c', 'd', 'e'].flatMap((address) => reviews(20, address));
    let most = 0;
    for (let answered = 0; answered < 100; answered += 1) {
      await setImmediate();
      most = Math.max(most, asked.length - answered);
      answers[answered]?.();
    }
    expect(new Set(await Promise.all(all))).toEqual(new Set([allowed]));
    expect(most).toBe(16);
  });

  it('asks for another address although one has sent many tokens', async () => {
    const { asked, answers, review, reviews } = aSlowApiServer();
    const leaving = new AbortController();
    const strangers = reviews(60, 'stranger', leaving.signal);
    const reader = review('reader');
    await setImmediate();
    expect(asked.at(-1)).toBe('reader 0');
    answers.at(-1)?.();
    expect(await reader).toEqual(allowed);
    leaving.abort(new Error('left'));
    await Promise.all(strangers);
  });

  it('refuses an address that has 64 tokens to ask for, until their requests have ended', async () => {
    const { asked, answers, review, reviews } = aSlowApiServer();
    const leaving = new AbortController();
    const waiting = reviews(64, 'stranger', leaving.signal);
    expect(await review('stranger', 64)).toEqual(
      new TooManyReviews('64 requests of stranger wait for their authorization already: try again'),
    );
    const { length } = asked;
    leaving.abort(new Error('left'));
    await Promise.all(waiting);
    await setImmediate();
    const next = review('stranger', 64);
    await setImmediate();
    expect(asked).toHaveLength(length + 1);
    answers.at(-1)?.();
    expect(await next).toEqual(allowed);
  });

  it('gives each question its time from when it is asked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { answers, asked, reviews } = aSlowApiServer();
    const [...waiting] = reviews(13, 'reader');
    await setImmediate();
    expect(asked).toHaveLength(12);
    vi.advanceTimersByTime(9_000);
    answers[0]?.();
    await setImmediate();
    expect(asked).toHaveLength(13);
    vi.advanceTimersByTime(9_000);
    answers[12]?.();
    expect(await waiting[12]).toEqual(allowed);
    expect(await waiting[1]).toEqual(new Error('the API server did not answer within 10 s'));
  });

  it('forgets the least recently used beyond a thousand', async () => {
    const { state, reviewer } = setUp(() => allowed);
    for (let i = 0; i < 1000; i += 1) await reviewer.review({ token: `t${i}` }, request, client);
    await reviewer.review({ token: 't0' }, request, client);
    await reviewer.review({ token: 'one more' }, request, client);
    expect(state.calls).toBe(1001);
    await reviewer.review({ token: 't0' }, request, client);
    expect(state.calls).toBe(1001);
    await reviewer.review({ token: 't1' }, request, client);
    expect(state.calls).toBe(1002);
  });
});

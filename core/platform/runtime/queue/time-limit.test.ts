import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { WaitingError } from '../../../errors.ts';
import { type Countdown, withTimeLimit } from './time-limit.ts';

const { signal } = new AbortController();
const never = new Promise<never>(() => undefined);

async function untilAborted(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

describe('withTimeLimit', () => {
  test('returns what the work returns, and throws what it throws', async () => {
    expect(await withTimeLimit(async () => 'done', { limit: 1_000, signal })).toBe('done');
    const failing = withTimeLimit(() => Promise.reject(new Error('bad')), { limit: 1_000, signal });
    await expect(failing).rejects.toThrow('bad');
  });

  test('ends work that does not listen', async () => {
    await expect(withTimeLimit(() => never, { limit: 5, signal })).rejects.toThrow(
      'took longer than the limit of 0.005 s (--content-timeout)',
    );
  });

  test('lets work that keeps the limit itself say so in words of its own', async () => {
    const work = withTimeLimit(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new WaitingError('back-off');
      },
      { limit: 10, grace: 60_000, signal },
    );
    await expect(work).rejects.toThrow(new WaitingError('back-off'));
    const deaf = withTimeLimit(() => never, { limit: 5, grace: 5, signal });
    await expect(deaf).rejects.toThrow('took longer than the limit of 0.005 s');
  });

  test('aborts the signal of the work', async () => {
    const told = Promise.withResolvers<AbortSignal>();
    const work = withTimeLimit(
      async (signal) => {
        await untilAborted(signal);
        told.resolve(signal);
        throw new Error('socket closed');
      },
      { limit: 5, signal },
    );
    await expect(work).rejects.toThrow('took longer than the limit');
    expect((await told.promise).aborted).toBe(true);
  });

  test('does not count what work waits for its turn, but for what it does then', async () => {
    const turn = async (countdown: Countdown) =>
      await countdown.uncounted(async () => await delay(60, 'turn'));
    const patient = withTimeLimit((_, countdown) => turn(countdown), { limit: 20, signal });
    expect(await patient).toBe('turn');
    const slow = withTimeLimit(async (_, countdown) => await turn(countdown).then(() => never), {
      limit: 20,
      signal,
    });
    await expect(slow).rejects.toThrow('took longer than the limit of 0.02 s');
  });

  test('does not begin to count again when the work has been given up', async () => {
    const abort = new AbortController();
    const turn = Promise.withResolvers<void>();
    const own = Promise.withResolvers<AbortSignal>();
    const work = withTimeLimit(
      async (given, countdown) => {
        own.resolve(given);
        await countdown.uncounted(async () => await turn.promise);
      },
      { limit: 10, signal: abort.signal },
    );
    const given = await own.promise;
    abort.abort(new Error('no longer'));
    await expect(work).rejects.toThrow('no longer');
    turn.resolve();
    await delay(30);
    expect(given.reason).toEqual(new Error('no longer'));
  });

  test('ends with the reason of the signal', async () => {
    const abort = new AbortController();
    const work = withTimeLimit(() => never, { limit: 60_000, signal: abort.signal });
    abort.abort(new WaitingError('the manager stops'));
    await expect(work).rejects.toThrow(new WaitingError('the manager stops'));
    const late = withTimeLimit(async () => 'done', { limit: 60_000, signal: abort.signal });
    await expect(late).rejects.toThrow('the manager stops');
  });
});

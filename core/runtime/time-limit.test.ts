import { describe, expect, test } from 'vitest';
import { WaitingError } from '../errors.ts';
import { withTimeLimit } from './time-limit.ts';

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

  test('tells work that listens', async () => {
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

  test('ends with the reason of the signal', async () => {
    const abort = new AbortController();
    const work = withTimeLimit(() => never, { limit: 60_000, signal: abort.signal });
    abort.abort(new WaitingError('the manager stops'));
    await expect(work).rejects.toThrow(new WaitingError('the manager stops'));
    const late = withTimeLimit(async () => 'done', { limit: 60_000, signal: abort.signal });
    await expect(late).rejects.toThrow('the manager stops');
  });
});

import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { abortable, systemClock } from './clock.ts';

test('an aborted sleep rejects with the reason of the signal', async () => {
  const reason = new Error('enough');
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a wait that an aborted signal ends leaves the error of its promise handled', async () => {
  const unhandled = vi.fn<() => void>();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const work = Promise.withResolvers<void>();
  const reason = new Error('enough');
  await expect(abortable(work.promise, AbortSignal.abort(reason))).rejects.toBe(reason);
  work.reject(new Error('too late'));
  await setImmediate();
  expect(unhandled).not.toHaveBeenCalled();
});

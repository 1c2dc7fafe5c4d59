import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('an aborted sleep rejects with the reason of the signal', async () => {
  const reason = new Error('enough');
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
});

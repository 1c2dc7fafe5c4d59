import { expect, test } from 'vitest';
import { bounded } from './index.ts';

/** Uses no processor time, as on a machine where others have it. */
function waitFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a task that others keep from the processor is not too slow', () => {
  let calls = 0;
  const task = (): string => {
    calls += 1;
    if (calls === 1) waitFor(180_000);
    return 'done';
  };
  expect(bounded(task, 50)).toBe('done');
  expect(calls).toBe(2);
});

test('a task without an end is ended, whether it works or waits', () => {
  const endless = (): never => {
    for (;;);
  };
  expect(() => bounded(endless, 50)).toThrow('it takes longer than 50 ms');
  expect(() => bounded(() => waitFor(180_000), 50)).toThrow('it takes longer than 50 ms');
});

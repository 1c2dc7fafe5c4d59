import { expect, test } from 'vitest';
import { boundedCall } from './bounded-call.ts';

const word = new Int32Array(new SharedArrayBuffer(4));

/** As a process looks that others keep from running: time passes, and it has none of it. */
function standStill(milliseconds: number): void {
  Atomics.wait(word, 0, 0, milliseconds);
}

test('a call that got no processor is not to blame for the time: it is called again', () => {
  let calls = 0;
  const answer = boundedCall(() => {
    calls += 1;
    if (calls < 3) standStill(10_000);
    return 'done';
  }, 20);
  expect(answer).toBe('done');
  // More often where others really keep it from running.
  expect(calls).toBeGreaterThanOrEqual(3);
});

test('one that never gets any ends too', () => {
  const start = performance.now();
  expect(() => boundedCall(() => standStill(60_000), 20)).toThrow('takes longer than 20 ms');
  expect(performance.now() - start).toBeLessThan(50_000);
});

test('a call that uses the processor all the time is ended', () => {
  let calls = 0;
  const endless = (): void => {
    calls += 1;
    for (;;) Math.sqrt(calls);
  };
  expect(() => boundedCall(endless, 100)).toThrow('takes longer than 100 ms');
});

test('what the call throws is thrown', () => {
  const call = () => {
    throw new Error('as it is');
  };
  expect(() => boundedCall(call, 1_000)).toThrow('as it is');
});

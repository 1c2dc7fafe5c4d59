import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { abortedResults } from './calls.ts';

const word = new Int32Array(new SharedArrayBuffer(4));

/** As a process looks that others keep from running: time passes, and it has none of it. */
function standStill(milliseconds: number): void {
  Atomics.wait(word, 0, 0, milliseconds);
}

test('a run that others keep from ending is given longer than a second', {
  tags: ['slow'],
}, async () => {
  const results = await abortedResults(async () => {
    for (let step = 0; step < 2; step += 1) {
      await delay(10);
      standStill(500);
    }
    await delay(10);
    return 'done';
  });
  expect(results).toEqual([
    { how: 'aborted before it began', value: 'done' },
    { how: 'aborted while it ran', value: 'done' },
  ]);
});

test('one that does not end is found', { tags: ['slow'] }, async () => {
  await expect(abortedResults(() => new Promise(() => undefined))).rejects.toThrow(
    'aborted before it began, it had not ended a second later',
  );
});

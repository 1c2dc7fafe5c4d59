import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { RepairBackoff } from './repair-backoff.ts';

test('three repairs are immediate, then pauses double up to five minutes', () => {
  const clock = new ManualClock();
  const backoff = new RepairBackoff(clock);
  const pauses: number[] = [];
  const begins: boolean[] = [];
  for (let repair = 0; repair < 14; repair += 1) {
    const pause = backoff.pause('a');
    pauses.push(pause);
    clock.advance(pause);
    expect(backoff.pause('a')).toBe(0);
    begins.push(backoff.repaired('a'));
  }
  const seconds = pauses.map((pause) => pause / 1000);
  expect(seconds).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  expect(begins.map((begin, index) => (begin ? index : -1)).filter((i) => i >= 0)).toEqual([2]);
  expect(backoff.pause('b')).toBe(0);
});

test('a quiet time or a forgotten owner clears the slate', () => {
  const clock = new ManualClock();
  const backoff = new RepairBackoff(clock);
  for (let repair = 0; repair < 5; repair += 1) backoff.repaired('a');
  clock.advance(11 * 60_000);
  backoff.repaired('a');
  expect(backoff.pause('a')).toBe(0);
  for (let repair = 0; repair < 5; repair += 1) backoff.repaired('a');
  expect(backoff.pause('a')).toBeGreaterThan(0);
  backoff.forget('a');
  expect(backoff.pause('a')).toBe(0);
});

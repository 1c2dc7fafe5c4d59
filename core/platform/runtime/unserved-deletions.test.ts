import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { UnservedDeletions, unservedGrace } from './unserved-deletions.ts';

test('a namesake has the whole time again', () => {
  const clock = new ManualClock();
  const deletions = new UnservedDeletions(clock);
  expect(deletions.remaining(aStoredBundle())).toBe(unservedGrace);
  clock.advance(unservedGrace);
  expect(deletions.remaining(aStoredBundle())).toBe(0);
  expect(deletions.remaining(aStoredBundle({ metadata: { name: 'demo', uid: 'new' } }))).toBe(
    unservedGrace,
  );
});

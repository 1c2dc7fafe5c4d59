import { expect, test } from 'vitest';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { installed, progressing } from './status.ts';

const clock = new ManualClock();
const status = installed({}, 'demo-1', clock);

test('Progressing is told while something blocks the deployment, and gone afterwards', () => {
  const blocked = { reason: 'Paused', message: 'by hand' };
  const held = progressing({ status, blocked }, clock);
  expect(held.conditions?.map(({ type }) => type)).toEqual(['Installed', 'Progressing']);
  expect(held.conditions?.[1]).toMatchObject({ status: 'False', ...blocked });
  expect(progressing({ status: held }, clock)).toEqual(status);
});

test('a status without it stays the very same', () => {
  expect(progressing({ status }, clock)).toBe(status);
});

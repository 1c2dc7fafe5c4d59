import { expect, test } from 'vitest';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { installed, notObserved, observed, progressing } from './status.ts';

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

test('the request that is reconciled is in the status, unless that says nothing new', () => {
  const annotations = { 'core.rukpak.io/reconcile-requested-at': 'now' };
  const status = { observedGeneration: 1, lastHandledReconcileAt: 'before' };
  const deployment = aStoredDeployment({ metadata: { generation: 2, annotations }, status });
  const next = observed(deployment);
  expect(next).toEqual({ observedGeneration: 2, lastHandledReconcileAt: 'now' });
  expect(notObserved({ deployment, status: next })).toEqual(status);
  const unasked = aStoredDeployment({ metadata: { generation: 2 }, status });
  expect(observed(unasked)).toEqual({ ...status, observedGeneration: 2 });
});

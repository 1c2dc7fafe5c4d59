import { expect, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import type { BundleDeploymentState } from '../phase.ts';
import { measureApply } from './apply.ts';

function stateOf(activeBundle: string | undefined): BundleDeploymentState {
  const status = activeBundle === undefined ? {} : { activeBundle };
  const deployment = { metadata: { name: 'demo' }, status } as unknown as BundleDeployment;
  const target = { metadata: { name: 'demo-new' } } as Bundle;
  return { deployment, target, status };
}

function measured() {
  const clock = new ManualClock();
  const told: unknown[] = [];
  const metrics = {
    applied: (set: object) => void told.push(set),
    changed: (operation: string, objects: number) => void told.push({ operation, objects }),
  };
  return { clock, metrics, told };
}

test.each([
  [undefined, 'install'],
  ['', 'install'],
  ['demo-old', 'upgrade'],
  ['demo-new', 'reconcile'],
])('with the active Bundle %s it is an %s', async (activeBundle, operation) => {
  const { clock, metrics, told } = measured();
  const result = await measureApply(stateOf(activeBundle), { clock, metrics }, async () => {
    clock.advance(250);
    return { changes: 3, complete: true };
  });
  expect(result).toEqual({ changes: 3, complete: true });
  expect(told).toEqual([
    { operation, objects: 3 },
    { operation, outcome: 'success', seconds: 0.25 },
  ]);
});

test('one that fails is measured too', async () => {
  const { clock, metrics, told } = measured();
  const refused = new Error('refused');
  const run = () => Promise.reject(refused);
  await expect(measureApply(stateOf(''), { clock, metrics }, run)).rejects.toBe(refused);
  expect(told).toEqual([{ operation: 'install', outcome: 'error', seconds: 0 }]);
});

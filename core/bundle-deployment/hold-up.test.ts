import { describe, expect, test } from 'vitest';
import { aBundleOf, nameOf, v1, v2 } from '../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import type { BundleDeploymentState } from './phase.ts';
import { holdUp } from './phases/choose-target.ts';

const because = { reason: 'Paused', message: 'by hand' };
const bundles = {
  ownedBy: () => [aBundleOf(v1), aBundleOf(v2, { phase: 'Pending' })],
  kept: () => undefined,
  upsertIfNewer: () => undefined,
};

function stateWith(activeBundle: string): BundleDeploymentState {
  return { deployment: aStoredDeployment(), status: { activeBundle } };
}

describe('what is held up goes on with', () => {
  test('the active Bundle', () => {
    const state = stateWith(nameOf(v1));
    expect(holdUp(state, { bundles }, because)).toBe('continue');
    expect(state.target?.metadata.name).toBe(nameOf(v1));
    expect(state.holdUp).toBe(because);
  });

  test.each([nameOf(v2), 'gone'])('nothing where %s is active', (activeBundle) => {
    const state = stateWith(activeBundle);
    expect(holdUp(state, { bundles }, because)).toBe('done');
    expect(state.target).toBeUndefined();
  });
});

test('the first reason is the one that is told', () => {
  const state = stateWith(nameOf(v1));
  holdUp(state, { bundles }, because);
  holdUp(state, { bundles }, { reason: 'AwaitingApproval', message: 'later' });
  expect(state.holdUp).toBe(because);
});

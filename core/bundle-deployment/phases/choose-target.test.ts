import { describe, expect, test } from 'vitest';
import { aBundleOf, nameOf, v1, v2 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { BundleDeploymentState } from '../phase.ts';
import { block } from './choose-target.ts';

const because = { reason: 'Paused', message: 'by hand' };
const bundles = {
  ownedBy: () => [aBundleOf(v1), aBundleOf(v2, { phase: 'Pending' })],
  kept: () => undefined,
  upsertIfNewer: () => undefined,
};

function stateWith(activeBundle: string): BundleDeploymentState {
  return { deployment: aStoredDeployment(), status: { activeBundle } };
}

describe('what is blocked goes on with', () => {
  test('the active Bundle', () => {
    const { target, ...found } = block(stateWith(nameOf(v1)), { bundles }, because);
    expect(target?.metadata.name).toBe(nameOf(v1));
    expect(found).toEqual({ blocked: because });
  });

  test.each([nameOf(v2), 'gone'])('nothing where %s is active', (activeBundle) => {
    const found = block(stateWith(activeBundle), { bundles }, because);
    expect(found).toEqual({ blocked: because, done: true });
  });
});

test('the first reason is the one that is told', () => {
  const state = { ...stateWith(nameOf(v1)), blocked: because };
  const { blocked } = block(state, { bundles }, { reason: 'AwaitingApproval', message: 'later' });
  expect(blocked).toBe(because);
});

import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { aBundleOf, nameOf, v1, v2 } from '../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { stagesWait } from './rendering/applied-content.ts';

interface Fields {
  readonly waitForReady?: boolean;
  readonly installed?: Condition['status'];
  readonly observedGeneration?: number;
}

/** With the Bundle of v1 active. */
function aDeployment(fields: Fields = {}): BundleDeployment {
  const { waitForReady = true, installed = 'True', observedGeneration = 4 } = fields;
  const { spec, ...rest } = aStoredDeployment({ metadata: { generation: 4 } });
  const condition: Condition = {
    type: 'Installed',
    status: installed,
    reason: 'Reason',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  return {
    ...rest,
    spec: { ...spec, stages: { waitForReady } },
    status: { activeBundle: nameOf(v1), observedGeneration, conditions: [condition] },
  };
}

function waits(deployment: BundleDeployment, template = v1): boolean {
  return stagesWait({ deployment, status: {}, target: aBundleOf(template) });
}

describe('stages wait for', () => {
  test('a first install', () => {
    const { status: _, ...fresh } = aDeployment();
    expect(waits(fresh)).toBe(true);
  });

  test('another Bundle', () => {
    expect(waits(aDeployment(), v2)).toBe(true);
  });

  test('the same Bundle with another config', () => {
    expect(waits(aDeployment({ observedGeneration: 3 }))).toBe(true);
  });

  test('a Bundle that is not completely installed', () => {
    expect(waits(aDeployment({ installed: 'False' }))).toBe(true);
  });
});

describe('stages do not wait', () => {
  test('for repairs of an installed Bundle', () => {
    expect(waits(aDeployment())).toBe(false);
  });

  test('for a rollback: an object that a later stage broke in an earlier one would never become healthy', () => {
    const rollback = { from: nameOf(v1), to: nameOf(v2), reason: '', at: '' };
    const state = { deployment: aDeployment(), status: { rollback } };
    expect(stagesWait({ ...state, target: aBundleOf(v2) })).toBe(false);
  });

  test('without spec.stages.waitForReady', () => {
    expect(waits(aDeployment({ waitForReady: false }), v2)).toBe(false);
    expect(waits(aStoredDeployment(), v2)).toBe(false);
  });
});

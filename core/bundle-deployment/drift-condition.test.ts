import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aStoredBundle, aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { isUnchanged } from './rendering/applied-content.ts';
import { withDrift } from './status.ts';

const clock = new ManualClock();
const deployment = { object: 'Deployment/n/web', missing: false, fields: ['spec.replicas'] };
const missing = { object: 'ConfigMap/n/c', missing: true, fields: [] };

test('drift is a condition that lists objects and fields', () => {
  const { conditions } = withDrift({}, [deployment, missing], clock);
  expect(conditions).toMatchObject([
    {
      type: 'Drifted',
      status: 'True',
      reason: 'DriftDetected',
      message:
        '2 objects differ from the bundle: Deployment/n/web (spec.replicas), ConfigMap/n/c (missing). ' +
        'Core reverts nothing while spec.drift.mode is Warn',
    },
  ]);
});

test('without drift there is no condition, and no write', () => {
  const before = withDrift({}, [deployment], clock);
  expect(withDrift(before, [], clock)).toEqual({ conditions: [] });
  const clean = { conditions: [] };
  expect(withDrift(clean, [], clock)).toBe(clean);
});

test('a thousand objects with a thousand fields make a short message', () => {
  const fields = Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(1000)}${index}`);
  const many = Array.from({ length: 1000 }, () => ({ ...deployment, fields }));
  const message = withDrift({}, many, clock).conditions?.[0]?.message ?? '';
  expect(message.length).toBeLessThan(20_000);
  expect(message).toContain(' and 980 more. ');
  expect(message).toContain(' and 995 more)');
});

describe('content is what was applied before', () => {
  const conditions = [
    {
      type: 'Installed',
      status: 'True' as const,
      reason: 'x',
      message: '',
      lastTransitionTime: '',
    },
  ];
  const status = { activeBundle: 'demo-1', observedGeneration: 1, conditions };
  const target = aStoredBundle({ name: 'demo-1' });

  test('where the same Bundle is active', () => {
    expect(isUnchanged({ deployment: aStoredDeployment({ status }), status, target })).toBe(true);
  });

  test.each([
    ['another Bundle is', { ...status, activeBundle: 'demo-0' }],
    ['the spec is another one', { ...status, observedGeneration: 0 }],
    ['it never was complete', { ...status, conditions: [] }],
  ])('not where %s', (_, other) => {
    expect(
      isUnchanged({ deployment: aStoredDeployment({ status: other }), status: other, target }),
    ).toBe(false);
  });
});

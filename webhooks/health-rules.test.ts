import { expect, test } from 'vitest';
import type { HealthRule } from '../api/v1alpha1/deployment-policies.ts';
import type { ReviewedDeployment } from './bundle-deployment.ts';
import { healthRulesCheck } from './health-rules.ts';

const { signal } = new AbortController();
const check = healthRulesCheck(({ healthy }, index) =>
  healthy === 'bad' ? `spec.health.rules[${index}] is bad` : undefined,
);

function aDeployment(...rules: readonly HealthRule[]): ReviewedDeployment {
  return { metadata: { name: 'd' }, spec: { health: { rules: [...rules] } } };
}

const good = { kind: 'Pod', healthy: 'true' };
const bad = { kind: 'Pod', healthy: 'bad' };

test.each([
  ['rules that can be used', aDeployment(good), undefined, undefined],
  [
    'the first that cannot',
    aDeployment(good, bad),
    aDeployment(good),
    'spec.health.rules[1] is bad',
  ],
  ['one that is stored already', aDeployment(bad), aDeployment(bad), undefined],
  ['no rules at all', { metadata: {}, spec: {} }, undefined, undefined],
])('of %s', (_, deployment, old, expected) => {
  expect(check({ deployment, old, user: { username: 'jane' } }, signal)).toBe(expected);
});

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

interface Row {
  readonly what: string;
  readonly deployment: ReviewedDeployment;
  readonly old?: ReviewedDeployment;
  readonly refusal?: string;
}

test.each<Row>([
  { what: 'rules that can be used', deployment: aDeployment(good) },
  {
    what: 'the first that cannot',
    deployment: aDeployment(good, bad),
    old: aDeployment(good),
    refusal: 'spec.health.rules[1] is bad',
  },
  { what: 'one that is stored already', deployment: aDeployment(bad), old: aDeployment(bad) },
  { what: 'no rules at all', deployment: { metadata: {}, spec: {} } },
])('of $what', ({ deployment, old, refusal }) => {
  expect(check({ deployment, old, user: { username: 'jane' } }, signal)).toBe(refusal);
});

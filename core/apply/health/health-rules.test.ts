import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { HealthRules } from './health-rules.ts';

const widget = { group: 'acme.example', kind: 'Widget' };
const object: KubernetesObject = { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'w' } };

function withRules(...rules: readonly object[]): BundleDeployment {
  const deployment = aStoredDeployment();
  return { ...deployment, spec: { ...deployment.spec, health: { rules } } } as BundleDeployment;
}

test('rules are those of their owner and kind, and go with a change', () => {
  const rules = new HealthRules();
  expect(rules.use(withRules({ ...widget, healthy: 'false' }))).toBe(true);
  expect(rules.use(withRules({ ...widget, healthy: 'false' }))).toBe(false);
  expect(rules.find('demo', widget)?.(object).status).toBe('InProgress');
  expect(rules.find('demo', { ...widget, group: '' })).toBeUndefined();
  expect(rules.find('other', widget)).toBeUndefined();
  expect(rules.use(withRules())).toBe(true);
  expect(rules.find('demo', widget)).toBeUndefined();
});

test('of two rules for one kind the first counts', () => {
  const rules = new HealthRules();
  rules.use(withRules({ ...widget, healthy: 'true' }, { ...widget, healthy: 'false' }));
  expect(rules.find('demo', widget)?.(object).status).toBe('Current');
});

test('a deployment without rules has none, and is no news', () => {
  const rules = new HealthRules();
  expect(rules.use(aStoredDeployment())).toBe(false);
  rules.use(withRules({ ...widget, healthy: 'true' }));
  rules.forget('demo');
  expect(rules.find('demo', widget)).toBeUndefined();
});

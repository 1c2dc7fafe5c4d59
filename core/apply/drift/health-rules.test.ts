import { setImmediate as othersTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { someHealthRules } from '../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { ObjectJudge } from '../../contracts/object-judge.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { Inventory } from '../inventory/inventory.ts';
import { objectID } from '../objects/object-id.ts';
import { OwnerStates } from '../state/owner-states.ts';

const widgets: Resource = {
  group: 'acme.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
};
const { group, kind } = widgets;
const widget = { group, kind };
const key = { name: 'w' };
const record = {
  id: objectID(widgets, key),
  owner: 'demo',
  resource: widgets,
  key,
  digest: 'd',
  projection: '',
  problem: undefined,
};
const object = { apiVersion: 'acme.example/v1', kind, metadata: { name: 'w', uid: 'u' } };
const entry = new Inventory().put(widgets, object);

function withRules(...rules: readonly object[]): BundleDeployment {
  const deployment = aStoredDeployment();
  return { ...deployment, spec: { ...deployment.spec, health: { rules } } } as BundleDeployment;
}

test('rules are those of their owner and kind, and go with a change', () => {
  const rules = someHealthRules();
  expect(rules.use(withRules({ ...widget, healthy: 'false' }))).toBe(true);
  expect(rules.use(withRules({ ...widget, healthy: 'false' }))).toBe(false);
  expect(rules.has('demo', widgets)).toBe(true);
  expect(rules.has('demo', { ...widgets, group: '' })).toBe(false);
  expect(rules.find({ ...record, owner: 'other' }, entry)).toBeUndefined();
  expect(rules.use(withRules())).toBe(true);
  expect(rules.find(record, entry)).toBeUndefined();
});

test('of two rules for one kind the first counts', async () => {
  const rules = someHealthRules();
  rules.use(withRules({ ...widget, healthy: 'true' }, { ...widget, healthy: 'false' }));
  const status = () => rules.find(record, entry)?.(object).status;
  expect(status()).toBe('InProgress');
  while (status() === 'InProgress') await othersTurn();
  expect(status()).toBe('Current');
});

test('rules are evaluated in the name of the deployment’s present creator', async () => {
  const judge = vi.fn<ObjectJudge['judge']>(async () => await Promise.reject(new Error('busy')));
  const clock = new ManualClock();
  const rules = someHealthRules({ judge: { judge }, clock });
  const deployment = withRules({ ...widget, healthy: 'true' });
  const { metadata, spec } = deployment;
  const annotations = { 'core.rukpak.io/changed-by': 'alice' };
  rules.use({ ...deployment, metadata: { ...metadata, annotations } });
  rules.find(record, entry)?.(object);
  while (judge.mock.calls.length < 1) await othersTurn();
  const serviceAccount = { namespace: 'shop', name: 'deployer' };
  expect(rules.use({ ...deployment, spec: { ...spec, serviceAccount } })).toBe(false);
  while (judge.mock.calls.length < 2) {
    clock.advance(10_000);
    await othersTurn();
  }
  const creators = judge.mock.calls.map(([request]) => request.creator);
  expect(creators).toEqual(['user alice', 'namespace shop']);
});

test('a deployment without rules has none, and is no news', () => {
  const owners = new OwnerStates(new ManualClock());
  const rules = someHealthRules({ owners });
  expect(rules.use(aStoredDeployment())).toBe(false);
  rules.use(withRules({ ...widget, healthy: 'true' }));
  owners.forget('demo');
  expect(rules.find(record, entry)).toBeUndefined();
});

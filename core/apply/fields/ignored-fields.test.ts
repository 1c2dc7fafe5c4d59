import { describe, expect, test } from 'vitest';
import type { IgnoredFields } from '../../../api/v1alpha1/deployment-policies.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { desiredObject } from '../objects/desired.ts';
import { ignoredIn } from './ignored-fields.ts';

const resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const key = { namespace: 'shop', name: 'web' };

function aDeployment(ignore?: readonly IgnoredFields[]) {
  const deployment = aStoredDeployment();
  const drift = ignore === undefined ? {} : { drift: { ignore: [...ignore] } };
  return { ...deployment, spec: { ...deployment.spec, ...drift } };
}

function desired(replicas: number, ignore?: readonly IgnoredFields[]) {
  const content = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: key,
    spec: { replicas, paused: false },
  };
  const context = { owner: aDeployment(ignore), systemNamespace: 'rukpak-system' };
  return desiredObject(content, resource, context);
}

describe('a rule', () => {
  const paths = ['/spec/replicas'];

  test.each([
    {},
    { group: 'apps' },
    { kind: 'Deployment', name: 'web' },
    { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
  ])('%j is for the object', (selector) => {
    const object = desired(1).object;
    const owner = aDeployment([{ ...selector, paths }]);
    expect(ignoredIn(owner, { resource, key }, object)?.key).toBe('["/spec/replicas"]');
  });

  test.each([{ group: '' }, { kind: 'StatefulSet' }, { namespace: 'other' }, { name: 'w' }])(
    '%j is not',
    (selector) => {
      const object = desired(1).object;
      const owner = aDeployment([{ ...selector, paths }]);
      expect(ignoredIn(owner, { resource, key }, object)).toBeUndefined();
    },
  );
});

test('the order of rules, and what they say twice, do not count', () => {
  const [a, b] = [{ paths: ['/spec/replicas'] }, { paths: ['/spec/paused', '/spec/replicas'] }];
  expect(desired(1, [a, b]).digest).toBe(desired(1, [b, a]).digest);
});

test('an ignored value is nothing new; another rule is', () => {
  const rules = [{ paths: ['/spec/replicas'] }];
  expect(desired(2, rules).digest).toBe(desired(1, rules).digest);
  expect(desired(1, [{ paths: ['/spec/paused'] }]).digest).not.toBe(desired(1, rules).digest);
  expect(desired(1, rules).digest).not.toBe(desired(1).digest);
  expect(desired(1, [{ name: 'other', paths: ['/spec'] }]).digest).toBe(desired(1).digest);
});

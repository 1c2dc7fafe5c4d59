import { expect, test } from 'vitest';
import type { Permission } from '../../../core/apply/index.ts';
import { policyRules } from './policy-rules.ts';

function allow(verb: string, kind: string, name?: string): Permission {
  const [resource = '', group = ''] = kind.split(/\.(.*)/s);
  return { verb, group, resource, namespace: 'shop', name };
}

test('kinds of a group with the same verbs share a rule', () => {
  const permissions = ['secrets', 'configmaps', 'deployments.apps'].flatMap((kind) => [
    allow('watch', kind),
    allow('list', kind),
    allow('list', kind),
  ]);
  expect(policyRules(permissions)).toEqual([
    {
      namespace: 'shop',
      rule: { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['list', 'watch'] },
    },
    {
      namespace: 'shop',
      rule: { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch'] },
    },
  ]);
});

test('objects of a kind with the same verbs share a rule, others have their own', () => {
  const permissions = [
    allow('get', 'secrets', 'b'),
    allow('get', 'secrets', 'a'),
    allow('delete', 'secrets', 'c'),
    allow('get', 'configmaps', 'a'),
  ];
  const rules = policyRules(permissions).map(({ rule }) => rule);
  expect(rules).toEqual([
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['c'], verbs: ['delete'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] },
  ]);
});

test('each namespace has rules of its own', () => {
  const permissions = [
    allow('list', 'secrets'),
    { ...allow('list', 'secrets'), namespace: 'other' },
  ];
  expect(policyRules(permissions).map(({ namespace }) => namespace)).toEqual(['shop', 'other']);
});

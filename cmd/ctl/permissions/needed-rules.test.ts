import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { knownKinds } from './known-kinds.ts';
import { neededRules } from './needed-rules.ts';
import { scopedRules } from './policy-rules.ts';

const { signal } = new AbortController();
const rbac = 'rbac.authorization.k8s.io';

function anObject(apiVersion: string, kind: string, fields: object = {}): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'shop' }, ...fields };
}

const definition = anObject('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgetry' },
    versions: [{ name: 'v1', served: true }],
  },
});

async function needed(...objects: KubernetesObject[]) {
  const discovery = knownKinds();
  return await neededRules({ objects, discovery, place: 'rukpak-system', signal });
}

describe('objects', () => {
  test('take everything from creation to deletion, where they live', async () => {
    const { permissions } = await needed(
      anObject('v1', 'ConfigMap', { metadata: { name: 'a' } }),
      anObject(`${rbac}/v1`, 'ClusterRole'),
    );
    const texts = permissions.map(
      ({ verb, resource, namespace = '*', name = '*' }) =>
        `${namespace} ${verb} ${resource} ${name}`,
    );
    expect(texts).toEqual([
      'rukpak-system create configmaps *',
      'rukpak-system delete configmaps a',
      'rukpak-system get configmaps a',
      'rukpak-system patch configmaps a',
      'rukpak-system list configmaps *',
      'rukpak-system watch configmaps *',
      '* create clusterroles *',
      '* delete clusterroles x',
      '* get clusterroles x',
      '* patch clusterroles x',
      '* list clusterroles *',
      '* watch clusterroles *',
    ]);
  });

  test('of kinds that the bundle defines need no cluster', async () => {
    const { permissions } = await needed(definition, anObject('example.com/v1', 'Gadget'));
    expect(permissions).toContainEqual({
      verb: 'create',
      group: 'example.com',
      resource: 'gadgetry',
      namespace: 'shop',
      name: undefined,
    });
  });

  test('of kinds that nobody knows are refused together', async () => {
    const objects = [
      anObject('example.com/v1', 'Gadget'),
      anObject('example.com/v2', 'Widget'),
      anObject('example.com/v1', 'Gadget'),
    ];
    await expect(needed(...objects)).rejects.toThrow(
      'neither Kubernetes, nor the bundle, nor the cluster has: Gadget of example.com/v1, Widget of example.com/v2',
    );
  });
});

describe('roles and bindings', () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];

  function aBinding(kind: string, role: string, name: string): KubernetesObject {
    return anObject(`${rbac}/v1`, kind, { roleRef: { apiGroup: rbac, kind: role, name } });
  }

  test('take the rules that they grant', async () => {
    const { escalation } = await needed(
      anObject(`${rbac}/v1`, 'Role', { rules }),
      anObject(`${rbac}/v1`, 'ClusterRole', {
        rules: [{ nonResourceURLs: ['/m'], verbs: ['get'] }],
      }),
    );
    expect(escalation).toEqual([
      { namespace: 'shop', rule: rules[0] },
      { namespace: undefined, rule: { nonResourceURLs: ['/m'], verbs: ['get'] } },
    ]);
  });

  test('take bind for a role that is not in the bundle, and nothing more for one that is', async () => {
    const { escalation } = await needed(
      anObject(`${rbac}/v1`, 'Role', { rules: [] }),
      aBinding('RoleBinding', 'Role', 'x'),
      aBinding('RoleBinding', 'Role', 'elsewhere'),
      aBinding('RoleBinding', 'ClusterRole', 'x'),
      aBinding('ClusterRoleBinding', 'ClusterRole', 'view'),
    );
    expect(escalation).toEqual([
      { namespace: 'shop', rule: bind('roles', 'elsewhere') },
      { namespace: 'shop', rule: bind('clusterroles', 'x') },
      { namespace: undefined, rule: bind('clusterroles', 'view') },
    ]);
  });

  test('count a field that is null as absent, as the API server does', async () => {
    const [rule] = rules;
    const withNull = { ...rule, resourceNames: null, nonResourceURLs: null };
    const { escalation } = await needed(anObject(`${rbac}/v1`, 'Role', { rules: [withNull] }));
    expect(escalation).toEqual([{ namespace: 'shop', rule }]);
  });

  test('that gather rules of others take escalate, and bind', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const { escalation } = await needed(
      anObject(`${rbac}/v1`, 'ClusterRole', { aggregationRule }),
      aBinding('ClusterRoleBinding', 'ClusterRole', 'x'),
    );
    expect(escalation.map(({ rule }) => rule.verbs)).toEqual([['escalate'], ['bind']]);
  });

  function bind(resource: string, name: string): object {
    return { apiGroups: [rbac], resources: [resource], resourceNames: [name], verbs: ['bind'] };
  }
});

describe('a namespace of the bundle', () => {
  const objects = [
    anObject('v1', 'Namespace', { metadata: { name: 'shop' } }),
    anObject('v1', 'Secret'),
    anObject('v1', 'Secret', { metadata: { name: 'y', namespace: 'other' } }),
  ];

  test('cannot have a Role before, so that all namespaces have it', async () => {
    const { rules, notes } = scopedRules(await needed(...objects), []);
    expect(new Set(rules.map(({ namespace }) => namespace))).toEqual(new Set([undefined, 'other']));
    expect(notes).toEqual([expect.stringMatching(/^namespace "shop" comes with the bundle, /)]);
  });

  test('has one where it exists already', async () => {
    const { rules, notes } = scopedRules(await needed(...objects), ['shop']);
    const secrets = rules.filter(({ rule }) => rule.resources?.includes('secrets'));
    expect(new Set(secrets.map(({ namespace }) => namespace))).toEqual(new Set(['shop', 'other']));
    expect(notes).toEqual([]);
  });
});

import { expect, test } from 'vitest';
import { roleObjects } from './role-objects.ts';

const options = { account: { namespace: 'team-a', name: 'deployer' }, label: 'shop' };
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };

test('the cluster and each namespace have a role with its binding, each rule once', () => {
  const scoped = [
    { namespace: 'b', rule: secrets },
    { namespace: 'b', rule: pods },
    { namespace: 'b', rule: { verbs: ['get'], resources: ['pods'], apiGroups: [''] } },
    { namespace: 'a', rule: pods },
    { namespace: undefined, rule: pods },
  ];
  const objects = roleObjects(scoped, options);
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '*'}`)).toEqual([
    'ClusterRole *',
    'ClusterRoleBinding *',
    'Role a',
    'RoleBinding a',
    'Role b',
    'RoleBinding b',
  ]);
  expect(objects[4]).toEqual({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'rukpak:team-a:deployer:shop', namespace: 'b' },
    rules: [pods, secrets],
  });
  expect(objects[5]).toMatchObject({
    roleRef: { kind: 'Role', name: 'rukpak:team-a:deployer:shop' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'team-a', name: 'deployer' }],
  });
});

test('the order of what is needed plays no part', () => {
  const scoped = [pods, secrets].map((rule) => ({ namespace: 'a', rule }));
  expect(roleObjects(scoped.toReversed(), options)).toEqual(roleObjects(scoped, options));
});

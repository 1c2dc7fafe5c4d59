import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  aRegistryBundle,
  aStrategyDeployment,
} from '../../../test/helpers/registry-bundle.ts';
import type {
  ClusterServiceVersion,
  PolicyRule,
  StrategyPermissions,
} from '../bundle/cluster-service-version.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  serviceAccounts,
} from './permissions.ts';

function aRule(fields: Partial<PolicyRule>): PolicyRule {
  return {
    verbs: undefined,
    apiGroups: undefined,
    resources: undefined,
    resourceNames: undefined,
    nonResourceURLs: undefined,
    asWritten: {},
    ...fields,
  };
}

const pods = aRule({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  asWritten: { resources: ['pods'], apiGroups: [''], verbs: ['get'], note: 'kept' },
});
const podReader = 'pkg.v1.0.0-sa1-osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76';
const withPermissions = aRegistryBundle({
  csv: aCsv({ permissions: [{ serviceAccountName: 'sa1', rules: [pods] }] }),
});
const inNs = anInstallation({ installNamespace: 'ns' });

function nameOf(permissions: StrategyPermissions, csvName = 'pkg.v1.0.0'): string | undefined {
  const csv = aCsv({ name: csvName, permissions: [permissions] });
  return clusterRoles(aRegistryBundle({ csv }), inNs)[0]?.metadata.name;
}

describe('names of permissions', () => {
  it.each([
    ['sa1', [pods], 'pkg.v1.0.0-sa1-osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76'],
    [
      'sa2',
      [aRule({ verbs: ['get'], nonResourceURLs: ['/metrics'] })],
      'pkg.v1.0.0-sa2-31tdg4e9kc0ws88hvehnwyqak38l5m1txl45h7hd9gui',
    ],
    [
      '',
      [aRule({ verbs: ['get'], apiGroups: ['a.b'], resources: ['<x>&'] })],
      'pkg.v1.0.0-default-1wr7lrjvz0z3bhcqrfkzzg30x8pm0fxgqy5bfybttwop',
    ],
  ])('equal the golden vector of account "%s"', (serviceAccountName, rules, expected) => {
    expect(nameOf({ serviceAccountName, rules })).toBe(expected);
  });

  it('cut the base only when base and hash together pass 63', () => {
    const permissions = { serviceAccountName: 'sa1', rules: [pods] };
    const hash = 'osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76';
    const fits = 'c'.repeat(63 - hash.length - '-sa1'.length);
    expect(nameOf(permissions, fits)).toBe(`${fits}-sa1-${hash}`);
    expect(nameOf(permissions, fits)).toHaveLength(64);
    expect(nameOf(permissions, `${fits}c`)).toBe(`${`${fits}c-sa1`.slice(0, 20)}-${hash}`);
    expect(nameOf(permissions, `${fits}c`)).toHaveLength(63);
  });

  it('take empty lists for absent ones, except rules and verbs', () => {
    const named = (rules: readonly PolicyRule[] | undefined): string | undefined =>
      nameOf({ serviceAccountName: 'sa1', rules });
    expect(named([{ ...pods, resourceNames: [], nonResourceURLs: [] }])).toBe(named([pods]));
    expect(named([])).not.toBe(named(undefined));
    expect(named([aRule({ verbs: [] })])).not.toBe(named([aRule({})]));
  });
});

describe('permissions of all namespaces', () => {
  it('lists those of the cluster first and fills in the default account', () => {
    const csv = aCsv({
      permissions: [{ serviceAccountName: 'namespaced', rules: [pods] }],
      clusterPermissions: [{ serviceAccountName: '', rules: undefined }],
    });
    const bundle = aRegistryBundle({ csv });
    expect(clusterRoleBindings(bundle, inNs)).toMatchObject(
      ['default', 'namespaced'].map((name) => ({ subjects: [{ name, namespace: 'ns' }] })),
    );
    expect(clusterRoles(bundle, inNs)).toMatchObject([
      { rules: [] },
      { rules: [pods.asWritten, { resources: ['namespaces'] }] },
    ]);
  });

  it('has accounts with permissions of namespaces see which there are', () => {
    const permissions = [{ serviceAccountName: 'a', rules: undefined }];
    const rulesOf = (csv: Partial<ClusterServiceVersion>) =>
      clusterRoles(aRegistryBundle({ csv: aCsv(csv) }), inNs)[0]?.['rules'];
    expect(rulesOf({ permissions })).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    ]);
    expect(rulesOf({ clusterPermissions: permissions })).toEqual([]);
  });
});

describe('permissions of some namespaces', () => {
  const csv = aCsv({
    permissions: [{ serviceAccountName: 'sa1', rules: [pods] }],
    clusterPermissions: [{ serviceAccountName: 'sa2', rules: [pods] }],
  });
  const bundle = aRegistryBundle({ csv });
  const installation = anInstallation({ installNamespace: 'own', targetNamespaces: ['a', 'own'] });

  it('are in each of them and in that of the operator, by the name that they have everywhere', () => {
    const made = roles(bundle, installation);
    expect(made.map(({ metadata }) => metadata)).toEqual([
      { name: podReader, namespace: 'own' },
      { name: podReader, namespace: 'a' },
    ]);
    const elsewhere = anInstallation({ installNamespace: 'own', targetNamespaces: ['a'] });
    expect(roles(bundle, elsewhere)).toEqual(made);
  });

  it("leave the operator's cluster permissions as written", () => {
    expect(clusterRoles(bundle, installation)).toMatchObject([{ rules: [pods.asWritten] }]);
    expect(clusterRoleBindings(bundle, installation)).toMatchObject([
      { subjects: [{ name: 'sa2' }] },
    ]);
  });
});

describe('serviceAccounts', () => {
  it('are the distinct accounts of deployments and permissions, without default', () => {
    const csv = aCsv({
      deployments: [
        aStrategyDeployment({ serviceAccountName: 'a' }),
        aStrategyDeployment({ serviceAccountName: '' }),
        aStrategyDeployment({ serviceAccountName: 'default' }),
      ],
      permissions: [
        { serviceAccountName: 'b', rules: [] },
        { serviceAccountName: 'a', rules: [] },
      ],
      clusterPermissions: [{ serviceAccountName: 'c', rules: [] }],
    });
    expect(serviceAccounts(aRegistryBundle({ csv }), inNs)).toEqual(
      ['a', 'b', 'c'].map((name) => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name, namespace: 'ns' },
      })),
    );
  });
});

describe('clusterRoles', () => {
  it('carry the rules as written, and that namespaces may be seen', () => {
    expect(clusterRoles(withPermissions, inNs)).toEqual([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: podReader },
        rules: [
          { resources: ['pods'], apiGroups: [''], verbs: ['get'], note: 'kept' },
          { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
        ],
      },
    ]);
  });
});

describe('clusterRoleBindings', () => {
  it('bind the account in the install namespace to the role of the same name', () => {
    expect(clusterRoleBindings(withPermissions, inNs)).toEqual([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: podReader },
        subjects: [{ kind: 'ServiceAccount', name: 'sa1', namespace: 'ns' }],
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: podReader,
        },
      },
    ]);
  });
});

describe('roles and roleBindings', () => {
  const inTwo = anInstallation({ installNamespace: 'ns', targetNamespaces: ['a'] });

  it('are in each namespace, for the account in the install namespace', () => {
    expect(roles(withPermissions, inTwo)).toEqual(
      ['ns', 'a'].map((namespace) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: podReader, namespace },
        rules: [pods.asWritten],
      })),
    );
    expect(roleBindings(withPermissions, inTwo)).toEqual(
      ['ns', 'a'].map((namespace) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: podReader, namespace },
        subjects: [{ kind: 'ServiceAccount', name: 'sa1', namespace: 'ns' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: podReader },
      })),
    );
    expect(clusterRoles(withPermissions, inTwo)).toEqual([]);
  });

  it('are absent when the operator watches all namespaces', () => {
    expect(roles(withPermissions, inNs)).toEqual([]);
    expect(roleBindings(withPermissions, inNs)).toEqual([]);
  });
});

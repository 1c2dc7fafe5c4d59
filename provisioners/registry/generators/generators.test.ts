import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  aRegistryBundle,
  aStrategyDeployment,
} from '../../../test/helpers/registry-bundle.ts';
import type { PolicyRule } from '../csv/cluster-service-version.ts';
import { supportedKinds } from '../objects/supported-kinds.ts';
import { clusterRoleBindings } from './cluster-role-bindings.ts';
import { clusterRoles } from './cluster-roles.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { namespace } from './namespace.ts';
import { otherObjects } from './other-objects.ts';
import { roleBindings } from './role-bindings.ts';
import { roles } from './roles.ts';
import { serviceAccounts } from './service-accounts.ts';

const pods: PolicyRule = {
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames: undefined,
  nonResourceURLs: undefined,
  asWritten: { resources: ['pods'], apiGroups: [''], verbs: ['get'], note: 'kept' },
};
const podReader = 'pkg.v1.0.0-sa1-osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76';
const withPermissions = aRegistryBundle({
  csv: aCsv({ permissions: [{ serviceAccountName: 'sa1', rules: [pods] }] }),
});

const inNs = anInstallation({ installNamespace: 'ns' });

describe('namespace', () => {
  it('is the install namespace and nothing else', () => {
    expect(namespace(aRegistryBundle(), inNs)).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } },
    ]);
  });

  it("is left alone where it is the user's", () => {
    expect(namespace(aRegistryBundle(), anInstallation({ createsNamespace: false }))).toEqual([]);
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

  it('are none where the operator watches all namespaces', () => {
    expect(roles(withPermissions, inNs)).toEqual([]);
    expect(roleBindings(withPermissions, inNs)).toEqual([]);
  });
});

describe('customResourceDefinitions', () => {
  it('are the very objects of the bundle', () => {
    const crds = [{ ...anObject('CustomResourceDefinition'), spec: { unknownField: 1n } }];
    expect(customResourceDefinitions(aRegistryBundle({ crds }), inNs)).toEqual(crds);
  });
});

describe('otherObjects', () => {
  it('move namespaced kinds to the install namespace, whatever was written', () => {
    for (const [kind, scope] of supportedKinds) {
      const written = anObject(kind, { name: 'x', namespace: 'elsewhere', labels: { a: 'b' } });
      const [object] = otherObjects(aRegistryBundle({ others: [written] }), inNs);
      const namespace = scope === 'Namespaced' ? 'ns' : 'elsewhere';
      expect(object).toEqual({ ...written, metadata: { ...written.metadata, namespace } });
    }
  });

  it('leave the namespace of a VerticalPodAutoscaler and of role binding subjects', () => {
    expect(supportedKinds.get('VerticalPodAutoscaler')).toBe('Cluster');
    const subjects = [{ kind: 'ServiceAccount', name: 'a', namespace: 'elsewhere' }];
    const binding = { ...anObject('RoleBinding'), subjects };
    expect(otherObjects(aRegistryBundle({ others: [binding] }), inNs)[0]).toMatchObject({
      subjects,
    });
  });

  it('survive metadata that is no map', () => {
    for (const metadata of [undefined, null, 7, 'text', ['a']]) {
      const others = [{ apiVersion: 'v1', kind: 'Secret', metadata } as never];
      expect(otherObjects(aRegistryBundle({ others }), inNs)[0]?.metadata).toEqual({
        namespace: 'ns',
      });
    }
  });
});

import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  aRegistryBundle,
  aStrategyDeployment,
  aWebhook,
} from '../../test/helpers/registry-bundle.ts';
import type { StrategyPermissions } from './bundle/cluster-service-version.ts';
import { convert } from './convert.ts';

const permissions: StrategyPermissions = {
  serviceAccountName: 'sa1',
  rules: [
    {
      verbs: ['get'],
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: undefined,
      nonResourceURLs: undefined,
      asWritten: { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    },
  ],
};
const roleName = 'pkg.v1.0.0-sa1-osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76';
const deployment = aStrategyDeployment({ serviceAccountName: 'sa1', spec: {} });

describe('convert', () => {
  it('puts objects in the order of the spec', () => {
    const csv = aCsv({ deployments: [deployment], permissions: [permissions] });
    const bundle = aRegistryBundle({
      csv,
      crds: [anObject('CustomResourceDefinition')],
      others: [anObject('Secret'), anObject('ClusterRole')],
    });
    expect(convert(bundle, anInstallation()).map((object) => object.kind)).toEqual([
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'CustomResourceDefinition',
      'Secret',
      'ClusterRole',
      'Deployment',
    ]);
  });

  it('makes one object of identical permissions', () => {
    const csv = aCsv({
      permissions: [permissions, permissions],
      clusterPermissions: [permissions],
    });
    const names = convert(aRegistryBundle({ csv }), anInstallation()).map(
      (object) => `${object.kind} ${object.metadata.name}`,
    );
    expect(names).toEqual([
      'Namespace pkg-system',
      'ServiceAccount sa1',
      `ClusterRole ${roleName}`,
      `ClusterRoleBinding ${roleName}`,
    ]);
  });

  it("prefers the bundle's own accounts and roles to generated ones", () => {
    const account = anObject('ServiceAccount', { name: 'sa1', labels: { own: 'yes' } });
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: roleName },
      rules: [],
    };
    const csv = aCsv({ permissions: [permissions] });
    const objects = convert(aRegistryBundle({ csv, others: [account, role] }), anInstallation());
    expect(objects.filter((object) => object.kind === 'ServiceAccount')).toEqual([
      { ...account, metadata: { ...account.metadata, namespace: 'pkg-system' } },
    ]);
    expect(objects.filter((object) => object.kind === 'ClusterRole')).toEqual([role]);
  });

  it('drops no object silently because another one comes to have its namespace', () => {
    const others = ['monitoring', 'system'].map((namespace) => ({
      ...anObject('ConfigMap', { name: 'metrics', namespace }),
      data: { namespace },
    }));
    expect(() => convert(aRegistryBundle({ others }), anInstallation())).toThrow(
      "ConfigMap 'monitoring/metrics' and a different ConfigMap 'system/metrics'",
    );
  });

  it('reports the first complaint of several', () => {
    const csv = aCsv({ webhookDefinitions: [aWebhook({ type: 'Another' }), aWebhook()] });
    expect(() => convert(aRegistryBundle({ csv }), anInstallation())).toThrow(
      /^webhook 'vpod.example.com' has unknown type 'Another'/,
    );
  });
});

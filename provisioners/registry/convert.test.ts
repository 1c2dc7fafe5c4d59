import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../core/sdk.ts';
import { aCsv, anObject, aRegistryBundle } from '../../test/helpers/registry-bundle.ts';
import type { StrategyPermissions } from './cluster-service-version.ts';
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
const deployment = {
  name: 'web',
  labels: {},
  podAnnotations: {},
  serviceAccountName: 'sa1',
  spec: {},
};

function namespaceOf(annotations: Record<string, string>, packageName = 'pkg'): unknown {
  return convert(aRegistryBundle({ packageName, csv: aCsv({ annotations }) }))[0]?.metadata.name;
}

describe('convert', () => {
  it('puts objects in the order of the spec', () => {
    const csv = aCsv({ deployments: [deployment], permissions: [permissions] });
    const bundle = aRegistryBundle({
      csv,
      crds: [anObject('CustomResourceDefinition')],
      others: [anObject('Secret'), anObject('ClusterRole')],
    });
    expect(convert(bundle).map((object) => object.kind)).toEqual([
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

  it('chooses the namespace: the one given, the suggested one, the package', () => {
    const suggested = { 'operatorframework.io/suggested-namespace': 'suggested' };
    expect(namespaceOf(suggested)).toBe('suggested');
    expect(namespaceOf({ 'operatorframework.io/suggested-namespace': '' })).toBe('pkg-system');
    expect(namespaceOf({})).toBe('pkg-system');
    expect(namespaceOf({}, '')).toBe('-system');
    const bundle = aRegistryBundle({
      csv: aCsv({ annotations: suggested, deployments: [deployment] }),
    });
    const objects = convert(bundle, { installNamespace: 'given' });
    expect(objects[0]?.metadata.name).toBe('given');
    expect(objects.slice(1).map((object) => object.metadata.namespace)).toEqual(['given', 'given']);
  });

  it('makes one object of identical permissions', () => {
    const csv = aCsv({
      permissions: [permissions, permissions],
      clusterPermissions: [permissions],
    });
    const names = convert(aRegistryBundle({ csv })).map(
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
    const objects = convert(aRegistryBundle({ csv, others: [account, role] }));
    expect(objects.filter((object) => object.kind === 'ServiceAccount')).toEqual([
      { ...account, metadata: { ...account.metadata, namespace: 'pkg-system' } },
    ]);
    expect(objects.filter((object) => object.kind === 'ClusterRole')).toEqual([role]);
  });

  it('reports the first complaint of several', () => {
    const refused = { csv: aCsv({ ownsApiServices: true, definesWebhooks: true }) };
    expect(() => convert(aRegistryBundle(refused))).toThrow(
      new TerminalError('apiServiceDefintions are not supported'),
    );
  });
});

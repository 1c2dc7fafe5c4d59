import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { aCsv, aRegistryBundle } from '../../../test/helpers/registry-bundle.ts';
import type {
  ClusterServiceVersion,
  PolicyRule,
  StrategyPermissions,
} from '../csv/cluster-service-version.ts';
import { clusterPermissions, namespacedPermissions } from './permissions.ts';

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

function promoted(csv: ClusterServiceVersion) {
  return clusterPermissions(aRegistryBundle({ csv }), anInstallation());
}

function nameOf(permissions: StrategyPermissions, csvName = 'pkg.v1.0.0'): string | undefined {
  return promoted(aCsv({ name: csvName, permissions: [permissions] }))[0]?.name;
}

const pods = aRule({ verbs: ['get'], apiGroups: [''], resources: ['pods'] });

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
    const permissions = promoted(csv);
    expect(permissions.map((each) => each.serviceAccountName)).toEqual(['default', 'namespaced']);
    expect(permissions.map((each) => each.rules[0])).toEqual([undefined, pods]);
  });

  it('has accounts with permissions of namespaces see which there are', () => {
    const permissions = [{ serviceAccountName: 'a', rules: undefined }];
    const [ofNamespaces] = promoted(aCsv({ permissions }));
    expect(ofNamespaces?.rules.map((rule) => rule.asWritten)).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    ]);
    const [ofCluster] = promoted(aCsv({ clusterPermissions: permissions }));
    expect(ofCluster?.rules).toEqual([]);
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
    const permissions = namespacedPermissions(bundle, installation);
    const name = 'pkg.v1.0.0-sa1-osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76';
    expect(permissions).toEqual(
      ['own', 'a'].map((namespace) => ({
        namespace,
        name,
        serviceAccountName: 'sa1',
        rules: [pods],
      })),
    );
    const elsewhere = anInstallation({ installNamespace: 'own', targetNamespaces: ['a'] });
    expect(namespacedPermissions(bundle, elsewhere)).toEqual(permissions);
  });

  it('leave what the operator may do in the cluster as written', () => {
    const [ofCluster, ...promotedOnes] = clusterPermissions(bundle, installation);
    expect(ofCluster).toMatchObject({ serviceAccountName: 'sa2', rules: [pods] });
    expect(promotedOnes).toEqual([]);
  });

  it('are none where it watches all', () => {
    expect(namespacedPermissions(bundle, anInstallation())).toEqual([]);
  });
});

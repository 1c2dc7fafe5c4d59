import { describe, expect, it } from 'vitest';
import { aCsv } from '../../test/helpers/registry-bundle.ts';
import type { PolicyRule, StrategyPermissions } from './csv/cluster-service-version.ts';
import { promotedPermissions } from './promoted-permissions.ts';

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

function nameOf(permissions: StrategyPermissions, csvName = 'pkg.v1.0.0'): string | undefined {
  return promotedPermissions(aCsv({ name: csvName, permissions: [permissions] }))[0]?.name;
}

const pods = aRule({ verbs: ['get'], apiGroups: [''], resources: ['pods'] });

describe('names of promoted permissions', () => {
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

describe('promotedPermissions', () => {
  it('lists those of the cluster first and fills in the default account', () => {
    const csv = aCsv({
      permissions: [{ serviceAccountName: 'namespaced', rules: [pods] }],
      clusterPermissions: [{ serviceAccountName: '', rules: undefined }],
    });
    const promoted = promotedPermissions(csv);
    expect(promoted.map((each) => each.serviceAccountName)).toEqual(['default', 'namespaced']);
    expect(promoted.map((each) => each.rules[0])).toEqual([undefined, pods]);
  });

  it('has accounts with permissions of namespaces see which there are', () => {
    const permissions = [{ serviceAccountName: 'a', rules: undefined }];
    const [promoted] = promotedPermissions(aCsv({ permissions }));
    expect(promoted?.rules.map((rule) => rule.asWritten)).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    ]);
    const [ofCluster] = promotedPermissions(aCsv({ clusterPermissions: permissions }));
    expect(ofCluster?.rules).toEqual([]);
  });
});

import { hashObject } from '../../core/sdk.ts';
import type {
  ClusterServiceVersion,
  PolicyRule,
  StrategyPermissions,
} from './csv/cluster-service-version.ts';
import { serviceAccountOf } from './service-account-name.ts';

/** Permissions of one account in all namespaces, under one name for role and binding. */
export interface PromotedPermissions {
  readonly name: string;
  readonly serviceAccountName: string;
  readonly rules: readonly PolicyRule[];
}

/**
 * All permissions of a CSV at cluster scope, since the operator watches all namespaces: first those
 * of the cluster, then those meant for one namespace (spec section 9.7). With the latter the operator
 * may see which namespaces there are, as OLM has it; names are those of the rules as written.
 */
export function promotedPermissions(csv: ClusterServiceVersion): readonly PromotedPermissions[] {
  return [
    ...csv.clusterPermissions.map((permissions) => named(csv, permissions)),
    ...csv.permissions.map((permissions) => {
      const { rules, ...rest } = named(csv, permissions);
      return { ...rest, rules: [...rules, seeNamespaces] };
    }),
  ];
}

const asWritten = { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] };
const seeNamespaces: PolicyRule = {
  ...asWritten,
  resourceNames: undefined,
  nonResourceURLs: undefined,
  asWritten,
};

function named(csv: ClusterServiceVersion, permissions: StrategyPermissions): PromotedPermissions {
  return {
    name: roleName(csv.name, permissions),
    serviceAccountName: serviceAccountOf(permissions),
    rules: permissions.rules ?? [],
  };
}

const maxNameLength = 63;

function roleName(csvName: string, permissions: StrategyPermissions): string {
  const base = `${csvName}-${serviceAccountOf(permissions)}`;
  const hash = hashObject({
    serviceAccountName: permissions.serviceAccountName,
    rules: permissions.rules?.map(hashedRule) ?? null,
  });
  // Without the hyphen between both, as RukPak counts: a name may have 64 characters.
  const fits = base.length + hash.length <= maxNameLength;
  return `${fits ? base : base.slice(0, maxNameLength - hash.length - 1)}-${hash}`;
}

/** The fields that Go writes, in its order: verbs always, the rest where not empty. */
function hashedRule(rule: PolicyRule): object {
  return {
    verbs: rule.verbs ?? null,
    apiGroups: unlessEmpty(rule.apiGroups),
    resources: unlessEmpty(rule.resources),
    resourceNames: unlessEmpty(rule.resourceNames),
    nonResourceURLs: unlessEmpty(rule.nonResourceURLs),
  };
}

function unlessEmpty(list: readonly string[] | undefined): readonly string[] | undefined {
  return list?.length === 0 ? undefined : list;
}

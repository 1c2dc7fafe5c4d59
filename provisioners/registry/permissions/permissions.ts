import { hashObject } from '../../../core/sdk.ts';
import type {
  ClusterServiceVersion,
  PolicyRule,
  StrategyPermissions,
} from '../csv/cluster-service-version.ts';
import { watchesAllNamespaces } from '../installation/install-modes.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { serviceAccountOf } from './service-account-name.ts';

/** Permissions of one account, under one name for role and binding. */
export interface NamedPermissions {
  readonly name: string;
  readonly serviceAccountName: string;
  readonly rules: readonly PolicyRule[];
}

/**
 * A CSV's permissions at cluster scope: its cluster permissions, and where the operator watches all
 * namespaces those meant for one. With the latter the operator may see which
 * namespaces there are, as OLM has it; names are those of the rules as written.
 */
export function clusterPermissions(
  { csv }: RegistryBundle,
  installation: Installation,
): readonly NamedPermissions[] {
  const ofCluster = csv.clusterPermissions.map((permissions) => named(csv, permissions));
  if (!watchesAllNamespaces(installation)) return ofCluster;
  const promoted = csv.permissions.map((permissions) => {
    const { rules, ...rest } = named(csv, permissions);
    return { ...rest, rules: [...rules, seeNamespaces] };
  });
  return [...ofCluster, ...promoted];
}

/** What one account may do in one namespace. */
export interface NamespacedPermissions extends NamedPermissions {
  readonly namespace: string;
}

/**
 * A CSV's permissions in each namespace, where the operator does not watch all: in those that it
 * watches, and as by OLM in its own, where it keeps its leases.
 */
export function namespacedPermissions(
  { csv }: RegistryBundle,
  installation: Installation,
): readonly NamespacedPermissions[] {
  if (watchesAllNamespaces(installation)) return [];
  const { installNamespace, targetNamespaces } = installation;
  const permissions = csv.permissions.map((each) => named(csv, each));
  return [...new Set([installNamespace, ...targetNamespaces])].flatMap((namespace) =>
    permissions.map((each) => ({ ...each, namespace })),
  );
}

const asWritten = { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] };
const seeNamespaces: PolicyRule = {
  ...asWritten,
  resourceNames: undefined,
  nonResourceURLs: undefined,
  asWritten,
};

function named(csv: ClusterServiceVersion, permissions: StrategyPermissions): NamedPermissions {
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

import { hashObject, type KubernetesObject, type ObjectMeta } from '../../../core/sdk.ts';
import type {
  ClusterServiceVersion,
  PolicyRule,
  StrategyPermissions,
} from '../bundle/cluster-service-version.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import { type Installation, watchesAllNamespaces } from '../installation.ts';

/** The account of every namespace, used when none is named. */
const defaultServiceAccount = 'default';

export function serviceAccountOf(user: { readonly serviceAccountName: string }): string {
  return user.serviceAccountName === '' ? defaultServiceAccount : user.serviceAccountName;
}

/** Names of the accounts of deployments and permissions; `default` can be one. */
export function usedAccounts({
  deployments,
  permissions,
  clusterPermissions,
}: ClusterServiceVersion): readonly string[] {
  const users = [...deployments, ...permissions, ...clusterPermissions];
  return [...new Set(users.map(serviceAccountOf))];
}

/** One per account of a deployment or permission, except `default`, which exists anyway. */
export function serviceAccounts(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const names = usedAccounts(csv).filter((name) => name !== defaultServiceAccount);
  return names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: installNamespace },
  }));
}

/** A ClusterRole per entry of permissions at cluster scope. */
export function clusterRoles(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return clusterPermissions(bundle, installation).map(({ name, rules }) => role({ name }, rules));
}

/** Binds each entry's account to the ClusterRole of the same name. */
export function clusterRoleBindings(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { installNamespace: namespace } = installation;
  return clusterPermissions(bundle, installation).map(({ name, serviceAccountName }) =>
    binding({ name }, name, { name: serviceAccountName, namespace }),
  );
}

/** A Role per entry of permissions in each namespace, unless the operator watches all. */
export function roles(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return namespacedPermissions(bundle, installation).map(({ name, namespace, rules }) =>
    role({ name, namespace }, rules),
  );
}

/** Binds each entry's account, which is in the install namespace, to the Role of the same name. */
export function roleBindings(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { installNamespace } = installation;
  return namespacedPermissions(bundle, installation).map(
    ({ name, namespace, serviceAccountName }) =>
      binding({ name, namespace }, name, { name: serviceAccountName, namespace: installNamespace }),
  );
}

const rbac = 'rbac.authorization.k8s.io';

/** A Role if the metadata have a namespace, otherwise a ClusterRole; the same for bindings. */
function role(metadata: ObjectMeta, rules: readonly PolicyRule[]): KubernetesObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: metadata.namespace === undefined ? 'ClusterRole' : 'Role',
    metadata,
    rules: rules.map((rule) => rule.asWritten),
  };
}

/** Binds an account to the role of that name and of the binding's scope. */
export function binding(
  metadata: ObjectMeta,
  roleName: string,
  account: { readonly name: string; readonly namespace: string },
): KubernetesObject {
  const kind = metadata.namespace === undefined ? 'ClusterRole' : 'Role';
  return {
    apiVersion: `${rbac}/v1`,
    kind: `${kind}Binding`,
    metadata,
    subjects: [{ kind: 'ServiceAccount', ...account }],
    roleRef: { apiGroup: rbac, kind, name: roleName },
  };
}

/** Permissions of one account, under one name for role and binding. */
interface NamedPermissions {
  readonly name: string;
  readonly serviceAccountName: string;
  readonly rules: readonly PolicyRule[];
}

/**
 * A CSV's permissions at cluster scope: its cluster permissions and, when the operator watches all
 * namespaces, its namespaced ones. With the latter the operator may also read namespaces, as in
 * OLM; names are hashes of the rules as written.
 */
function clusterPermissions(
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

/** The permissions of one account in one namespace. */
interface NamespacedPermissions extends NamedPermissions {
  readonly namespace: string;
}

/**
 * A CSV's permissions in each namespace, unless the operator watches all: in the watched namespaces
 * and, as in OLM, in its own, where it has its leases.
 */
function namespacedPermissions(
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

/** The fields in Go's order: verbs always, the rest if not empty. */
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

import type { KubernetesObject } from '../../../api/meta.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import type { PolicyRule, ScopedRule } from './needed-rules.ts';

const group = 'rbac.authorization.k8s.io';

interface RoleObjectsOptions {
  readonly account: ServiceAccountRef;
  /**
   * Distinguishes the roles of this content from those of other content that the account installs.
   */
  readonly label: string;
}

/** A role with its binding for the whole cluster and for each namespace that has rules. */
export function roleObjects(
  rules: readonly ScopedRule[],
  { account, label }: RoleObjectsOptions,
): readonly KubernetesObject[] {
  const name = `rukpak:${account.namespace}:${account.name}:${label}`;
  const scopes = Map.groupBy(rules, ({ namespace }) => namespace ?? '');
  return [...scopes]
    .sort(([a], [b]) => compare(a, b))
    .flatMap(([scope, scoped]) => {
      const namespace = scope === '' ? undefined : scope;
      const own = distinct(scoped.map(({ rule }) => rule));
      return [role({ name, namespace }, own), binding({ name, namespace }, account)];
    });
}

interface RoleName {
  readonly name: string;
  readonly namespace: string | undefined;
}

function role(metadata: RoleName, rules: readonly PolicyRule[]): KubernetesObject {
  const kind = metadata.namespace === undefined ? 'ClusterRole' : 'Role';
  return { apiVersion: `${group}/v1`, kind, metadata: metadataOf(metadata), rules };
}

function binding(metadata: RoleName, account: ServiceAccountRef): KubernetesObject {
  const kind = metadata.namespace === undefined ? 'ClusterRole' : 'Role';
  return {
    apiVersion: `${group}/v1`,
    kind: `${kind}Binding`,
    metadata: metadataOf(metadata),
    roleRef: { apiGroup: group, kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace: account.namespace, name: account.name }],
  };
}

function metadataOf({ name, namespace }: RoleName): KubernetesObject['metadata'] {
  return namespace === undefined ? { name } : { name, namespace };
}

/** Each rule once, in an order that does not depend on the objects' order. */
function distinct(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const byText = new Map(rules.map((rule) => [textOf(rule), inOrder(rule)]));
  return [...byText].sort(([a], [b]) => compare(a, b)).map(([, rule]) => rule);
}

function textOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule) {
  return JSON.stringify([apiGroups, resources, resourceNames, nonResourceURLs, verbs]);
}

function inOrder(rule: PolicyRule): PolicyRule {
  const { apiGroups, resources, resourceNames, nonResourceURLs, verbs } = rule;
  return {
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(nonResourceURLs === undefined ? {} : { nonResourceURLs }),
    verbs,
  };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { groupOf } from '../objects/api-group.ts';

const bindings: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding']);
/** Whose bindings they are; kinds of others by these names are anything. */
const groups: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'authorization.openshift.io',
]);

/** The bundle's own ServiceAccounts, and where they are. */
export interface OwnAccounts {
  readonly names: ReadonlySet<string>;
  readonly namespace: string;
}

/**
 * A binding that the bundle ships names its accounts in the namespace that its author had in mind.
 * Where they are in another one, they are bound there too; who else is named is left as written.
 */
export function withOwnAccounts(object: KubernetesObject, accounts: OwnAccounts): KubernetesObject {
  const subjects = object['subjects'] as JsonValue | undefined;
  if (!isBinding(object) || !isList(subjects)) return object;
  const accountsOf = (list: readonly JsonValue[]): ReadonlySet<string> =>
    new Set(list.flatMap((subject) => accountOf(subject, accounts)));
  const bound = accountsOf(subjects.filter((each) => namespaceOf(each) === accounts.namespace));
  const missing = [...accountsOf(subjects)].filter((name) => !bound.has(name));
  if (missing.length === 0) return object;
  const added = missing.map((name) => ({
    kind: 'ServiceAccount',
    name,
    namespace: accounts.namespace,
  }));
  return { ...object, subjects: [...subjects, ...added] };
}

function accountOf(subject: JsonValue, { names }: OwnAccounts): readonly string[] {
  if (!isMap(subject) || subject['kind'] !== 'ServiceAccount') return [];
  const name = subject['name'];
  return typeof name === 'string' && names.has(name) ? [name] : [];
}

function namespaceOf(subject: JsonValue): JsonValue | undefined {
  return isMap(subject) ? subject['namespace'] : undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isMap(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isBinding({ apiVersion, kind }: KubernetesObject): boolean {
  return bindings.has(kind) && groups.has(groupOf(apiVersion));
}

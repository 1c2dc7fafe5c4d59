import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type PolicyRule, parseRules, type ScopedRule } from './policy-rule.ts';

const rbac = 'rbac.authorization.k8s.io';

/** An object and the namespace that it goes to. */
export interface PlacedObject {
  readonly object: KubernetesObject;
  /** Undefined for cluster-scoped objects. */
  readonly namespace: string | undefined;
}

/**
 * What the API server wants of those who write roles and bindings: nobody grants what they do not
 * have. So the rules of the roles themselves, and `bind` for roles that are not in the bundle.
 */
export function escalationRules(objects: readonly PlacedObject[]): readonly ScopedRule[] {
  const ofRBAC = objects.filter(({ object }) => object.apiVersion.startsWith(`${rbac}/`));
  const roles = ofRBAC.filter(({ object: { kind } }) => kind === 'Role' || kind === 'ClusterRole');
  const bindings = ofRBAC.filter(({ object: { kind } }) => kind.endsWith('RoleBinding'));
  const held = new Set(roles.filter((role) => !isAggregated(role)).map(addressOf));
  return [
    ...roles.flatMap((role) => [...rulesIn(role), ...escalate(role)]),
    ...bindings.flatMap((binding) => bind(binding, held)),
  ];
}

function rulesIn({ object, namespace }: PlacedObject): readonly ScopedRule[] {
  return parseRules(object['rules']).map((rule) => ({ namespace, rule }));
}

/** The rules of others are gathered in it later: only who may do everything may write such a role. */
function isAggregated({ object }: PlacedObject): boolean {
  const selectors = fieldAt(object, 'aggregationRule', 'clusterRoleSelectors');
  return listOf(selectors).length > 0;
}

function escalate(role: PlacedObject): readonly ScopedRule[] {
  if (!isAggregated(role)) return [];
  const name = role.object.metadata.name ?? '';
  return [{ namespace: undefined, rule: onRole('clusterroles', name, 'escalate') }];
}

function bind({ object, namespace }: PlacedObject, held: ReadonlySet<string>): ScopedRule[] {
  const kind = stringAt(object, 'roleRef', 'kind') ?? '';
  const name = stringAt(object, 'roleRef', 'name') ?? '';
  const role = { kind, name, namespace: kind === 'Role' ? namespace : undefined };
  if (held.has(addressText(role))) return [];
  const resource = kind === 'Role' ? 'roles' : 'clusterroles';
  return [{ namespace, rule: onRole(resource, name, 'bind') }];
}

function onRole(resource: string, name: string, verb: string): PolicyRule {
  return { apiGroups: [rbac], resources: [resource], resourceNames: [name], verbs: [verb] };
}

function addressOf({ object, namespace }: PlacedObject): string {
  const { kind, metadata } = object;
  return addressText({ kind, name: metadata.name ?? '', namespace });
}

function addressText(role: { kind: string; name: string; namespace: string | undefined }): string {
  return [role.kind, role.namespace ?? '', role.name].join('|');
}

import { z } from 'zod';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  kindKey,
  lifetimeVerbs,
  type Permission,
  permissionsOn,
  resolveKinds,
} from '../../../core/apply/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Discovery } from '../../../core/platform/kube/index.ts';

interface NeededRequest {
  readonly objects: readonly KubernetesObject[];
  readonly discovery: Discovery;
  /** Namespace for namespaced objects that name none. */
  readonly place: string;
  readonly signal: AbortSignal;
}

/** The permissions to install, upgrade and delete some content. */
export interface NeededRules {
  /** Permissions on the objects themselves. */
  readonly permissions: readonly Permission[];
  /** Rules that the account needs to write the roles and bindings among the objects. */
  readonly escalation: readonly ScopedRule[];
  /** Namespaces among the objects. */
  readonly ownNamespaces: readonly string[];
}

/** Kinds whose scope is unknown. */
export class UnknownKinds extends TerminalError {}

/**
 * Computes the permissions for a bundle's objects.
 * @throws UnknownKinds that names the unknown kinds.
 */
export async function neededRules(request: NeededRequest): Promise<NeededRules> {
  const { objects, discovery, place, signal } = request;
  const { resources } = await resolveKinds(objects, discovery, signal);
  const unknown = objects.filter((object) => !resources.has(kindKey(object)));
  if (unknown.length > 0) throw unknownKinds(unknown);
  const placed = objects.flatMap((object) => {
    const resource = resources.get(kindKey(object));
    if (resource === undefined) return [];
    const { name = '', namespace } = object.metadata;
    const key = resource.namespaced ? { namespace: namespace || place, name } : { name };
    return [{ object, resource, key, namespace: key.namespace }];
  });
  return {
    permissions: placed.flatMap((each) => permissionsOn(each, lifetimeVerbs)),
    escalation: escalationRules(placed),
    ownNamespaces: objects
      .filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace')
      .map(({ metadata }) => metadata.name ?? ''),
  };
}

function unknownKinds(objects: readonly KubernetesObject[]): UnknownKinds {
  const kinds = new Set(objects.map(({ apiVersion, kind }) => `${kind} of ${apiVersion}`));
  return new UnknownKinds(
    `cannot compute permissions for kinds that neither Kubernetes, nor the bundle, nor the cluster has: ${[...kinds].toSorted().join(', ')}`,
  );
}

const rbac = 'rbac.authorization.k8s.io';

/** An object and its namespace. */
interface PlacedObject {
  readonly object: KubernetesObject;
  /** Undefined for cluster-scoped objects. */
  readonly namespace: string | undefined;
}

/**
 * The API server lets an account write only roles and bindings whose permissions the account has.
 * These are the rules of the roles themselves, and `bind` for roles that are not in the bundle.
 */
function escalationRules(objects: readonly PlacedObject[]): readonly ScopedRule[] {
  const ofRBAC = objects.filter(({ object }) => object.apiVersion.startsWith(`${rbac}/`));
  const roles = ofRBAC.filter(({ object: { kind } }) => kind === 'Role' || kind === 'ClusterRole');
  const bindings = ofRBAC.filter(({ object: { kind } }) => kind.endsWith('RoleBinding'));
  const held = new Set(roles.filter((role) => !isAggregated(role)).map(addressOf));
  return [
    ...roles.flatMap((role) => [...rulesIn(role), ...escalateRules(role)]),
    ...bindings.flatMap((binding) => bindRules(binding, held)),
  ];
}

function rulesIn({ object, namespace }: PlacedObject): readonly ScopedRule[] {
  return parseRules(object['rules']).map((rule) => ({ namespace, rule }));
}

/**
 * The API server adds rules of other roles to it later, so writing such a role requires all
 * permissions.
 */
function isAggregated({ object }: PlacedObject): boolean {
  const selectors = fieldAt(object, 'aggregationRule', 'clusterRoleSelectors');
  return listOf(selectors).length > 0;
}

function escalateRules(role: PlacedObject): readonly ScopedRule[] {
  if (!isAggregated(role)) return [];
  const name = role.object.metadata.name ?? '';
  return [{ namespace: undefined, rule: onRole('clusterroles', name, 'escalate') }];
}

function bindRules({ object, namespace }: PlacedObject, held: ReadonlySet<string>): ScopedRule[] {
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

/** Go's programs write null for an empty list, and the API server reads it as absent. */
const texts = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? undefined)
  .optional();

const ruleSchema = z.object({
  apiGroups: texts,
  resources: texts,
  resourceNames: texts,
  nonResourceURLs: texts,
  verbs: z.array(z.string()),
});

/** One rule of a Role or ClusterRole. */
export interface PolicyRule extends z.infer<typeof ruleSchema> {}

/** A rule and its namespace. */
export interface ScopedRule {
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly rule: PolicyRule;
}

/** The valid rules in an object's `rules`. */
function parseRules(rules: unknown): readonly PolicyRule[] {
  return z.array(ruleSchema).catch([]).parse(rules);
}

/**
 * When spec.prune or spec.deletionPolicy keeps a CRD with custom resources, core lists these in all
 * namespaces. The same may hold for core's own defaults, which users cannot read. `definitions` are
 * names of CRDs.
 */
export function customResourceLists(
  { spec }: BundleDeployment,
  definitions: readonly string[],
): readonly Permission[] {
  const { confirmData = true } = spec.prune ?? {};
  const { deletionPolicy = 'KeepCRDs' } = spec;
  const isAsked = confirmData || deletionPolicy === 'KeepCRDs';
  if (!isAsked) return [];
  return definitions.map((name) => {
    const dot = name.indexOf('.');
    return { verb: 'list', group: name.slice(dot + 1), resource: name.slice(0, dot) };
  });
}

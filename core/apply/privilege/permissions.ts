import * as z from 'zod';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { creatorOf } from '../../../api/v1alpha1/rules/creator.ts';
import type { KubeClient, ObjectKey, Resource } from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { PlannedObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';

/** One action, as RBAC rules name it. */
export interface Permission {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** The plural in URLs, with a subresource if any: `pods/log`. */
  readonly resource: string;
  /** Undefined for the whole cluster. */
  readonly namespace?: string | undefined;
  /** Undefined for all objects. */
  readonly name?: string | undefined;
  /** A non-resource URL path; all fields above are then empty. */
  readonly path?: string | undefined;
}

/** Verbs whose requests name one object, so that a rule may name it too. */
const namedVerbs: ReadonlySet<string> = new Set(['get', 'patch', 'delete']);

interface Address {
  readonly resource: Pick<Resource, 'group' | 'plural' | 'namespaced'>;
  readonly key: ObjectKey;
}

/** The permissions for each of these verbs on an object. */
export function permissionsOn(
  { resource, key }: Address,
  verbs: readonly string[],
): readonly Permission[] {
  return verbs.map((verb) => ({
    verb,
    group: resource.group,
    resource: resource.plural,
    namespace: resource.namespaced ? key.namespace : undefined,
    name: namedVerbs.has(verb) ? key.name : undefined,
  }));
}

/** `configmaps`, or `deployments.apps` for another group than the core one. */
export function resourceName({ group, resource }: Pick<Permission, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Equal for permissions that differ only in the object's name. */
export function scopeKey({ verb, group, resource, namespace, path }: Permission): string {
  return [verb, group, resource, namespace ?? '', path ?? ''].join('|');
}

/**
 * All deployments share core's watches. Because a watch shows a deployment its objects, its account
 * needs permission to see them.
 */
const watchVerbs = ['list', 'watch'] as const;

const changeVerbs = ['get', 'patch', ...watchVerbs] as const;
const deleteVerbs = ['delete', 'get', ...watchVerbs] as const;

/**
 * All actions on an object from its installation to its deletion. Server-side apply is a patch that
 * may create, and core deletes the created objects of a refused install.
 */
export const lifetimeVerbs = ['create', 'delete', 'get', 'patch', ...watchVerbs] as const;

export interface PlannedWork {
  readonly pending: readonly PlannedObject[];
  /** Objects that core will delete. */
  readonly superfluous: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
  /** Objects as desired: core does not change them now, but may have to at any time. */
  readonly kept?: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
  /** Objects that hooks will create, and delete. */
  readonly hooks?: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
}

/** The permissions for a plan, by object. */
export function neededPermissions({
  pending,
  superfluous,
  kept = [],
  hooks = [],
}: PlannedWork): readonly Permission[] {
  return [
    ...pending.flatMap(({ desired, live }) =>
      permissionsOn(desired, live === undefined ? lifetimeVerbs : changeVerbs),
    ),
    ...superfluous.flatMap((entry) => permissionsOn(entry, deleteVerbs)),
    ...kept.flatMap((entry) => permissionsOn(entry, lifetimeVerbs)),
    ...hooks.flatMap((hook) => permissionsOn(hook, lifetimeVerbs)),
  ];
}

const concurrentReviews = 8;

const reviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }),
});

/**
 * The permissions that the client's identity lacks. Asks once for each verb, kind and namespace,
 * and about single objects only after a refusal, because a rule may name them.
 * @throws ApiError when the API server does not answer.
 */
export async function missingPermissions(
  client: Pick<KubeClient, 'request'>,
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const scopes = [...Map.groupBy(permissions, scopeKey).values()];
  const missing: Permission[] = [];
  await forEachLimit(scopes, concurrentReviews, async (scope) => {
    const [first] = scope;
    if (first === undefined || (await isAllowed(client, { ...first, name: undefined }, signal))) {
      return;
    }
    for (const permission of distinct(scope)) {
      const named = permission.name !== undefined;
      if (named && (await isAllowed(client, permission, signal))) continue;
      missing.push(permission);
    }
  });
  return missing;
}

function distinct(scope: readonly Permission[]): Iterable<Permission> {
  return new Map(scope.map((permission) => [permission.name, permission])).values();
}

function attributesOf({ path, ...permission }: Permission): object {
  const { verb } = permission;
  if (path !== undefined) return { nonResourceAttributes: { path, verb } };
  const [resource, subresource] = permission.resource.split('/');
  return { resourceAttributes: { ...permission, resource, subresource } };
}

async function isAllowed(
  client: Pick<KubeClient, 'request'>,
  permission: Permission,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: attributesOf(permission),
    },
    signal,
  });
  const { allowed, denied } = reviewSchema.parse(answer).status;
  return allowed && denied !== true;
}

/**
 * The client with the permissions of a deployment, its ServiceAccount's or else core's own, and with the
 * connections of its creator.
 */
export function clientOf(owner: BundleDeployment, own: KubeClient): KubeClient {
  const client = own.ofCreator(creatorOf(owner));
  const { serviceAccount } = owner.spec;
  return serviceAccount === undefined ? client : client.impersonate(serviceAccount);
}

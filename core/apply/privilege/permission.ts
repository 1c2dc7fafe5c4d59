import type { ObjectKey, Resource } from '../../platform/kube/index.ts';

/** One thing that somebody may do or not, as RBAC tells such things apart. */
export interface Permission {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** The plural in URLs, with the subresource where it is for one: `pods/log`. */
  readonly resource: string;
  /** Absent where it is for the whole cluster. */
  readonly namespace?: string | undefined;
  /** Absent where it is for all objects. */
  readonly name?: string | undefined;
  /** A URL path that belongs to no resource; all of the above is empty then. */
  readonly path?: string | undefined;
}

/** Verbs whose requests name one object: a rule may name it too. */
const namedVerbs: ReadonlySet<string> = new Set(['get', 'patch', 'delete']);

interface Address {
  readonly resource: Pick<Resource, 'group' | 'plural' | 'namespaced'>;
  readonly key: ObjectKey;
}

/** What it takes to do each of these to an object. */
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

/** Equal for what is the same permission, whatever object it is for. */
export function scopeKey({ verb, group, resource, namespace, path }: Permission): string {
  return [verb, group, resource, namespace ?? '', path ?? ''].join('|');
}

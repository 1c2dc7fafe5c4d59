import type { KubernetesObject } from '../../../api/meta.ts';

export interface GroupVersionKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A kind as the API server serves it: where its objects live. */
export interface Resource extends GroupVersionKind {
  /** The plural in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** One object's address. */
export interface ObjectKey {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export function gvkOf(object: Pick<KubernetesObject, 'apiVersion' | 'kind'>): GroupVersionKind {
  const [group, version] = splitApiVersion(object.apiVersion);
  return { group, version, kind: object.kind };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Omit<GroupVersionKind, 'kind'>): string {
  return group === '' ? version : `${group}/${version}`;
}

function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash === -1
    ? ['', apiVersion]
    : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

export function keyOf(object: KubernetesObject): ObjectKey {
  return { namespace: object.metadata.namespace, name: object.metadata.name ?? '' };
}

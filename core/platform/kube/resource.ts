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
  const { apiVersion, kind } = object;
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return { group, version: apiVersion.slice(slash + 1), kind };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Omit<GroupVersionKind, 'kind'>): string {
  return group === '' ? version : `${group}/${version}`;
}

export function keyOf(object: KubernetesObject): ObjectKey {
  return { namespace: object.metadata.namespace, name: object.metadata.name ?? '' };
}

/** `namespace/name`, or `name` for cluster-scoped objects: the keys of caches and queues. */
export function formatKey({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}

const digits = /^[0-9]+$/;

/**
 * Negative where `a` is the older of two resourceVersions of one resource, 0 where they are equal.
 * Undefined where they cannot be compared: some aggregated API servers use other forms.
 */
export function compareResourceVersions(
  a: string | undefined,
  b: string | undefined,
): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!digits.test(a) || !digits.test(b)) return undefined;
  // Beyond 2^53 a number would round.
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

export const secretResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

export const configMapResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export const podResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
};

export const serviceAccountResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

export const definitionResource: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export const apiServiceResource: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
};

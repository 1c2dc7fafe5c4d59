import type { GroupVersionKind } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';

/** A kind as the API server serves it. */
export interface Resource extends GroupVersionKind {
  /** The plural in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The address of one object. */
export interface ObjectKey {
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export function keyOf(object: KubernetesObject): ObjectKey {
  return { namespace: object.metadata.namespace, name: object.metadata.name ?? '' };
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key in caches and queues. */
export function formatKey({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}

const digits = /^[0-9]+$/;

/**
 * Negative when `a` is the older of two resourceVersions of one resource, 0 when they are equal.
 * Undefined when they cannot be compared: some aggregated API servers use other formats.
 */
export function compareResourceVersions(
  a: string | undefined,
  b: string | undefined,
): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!digits.test(a) || !digits.test(b)) return undefined;
  // Beyond 2^53 a number would be rounded.
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

export const clusterRoleBindingResource: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
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

export const namespaceResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export const deploymentResource: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

import type { GroupVersionKind } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ObjectKey } from '../../platform/kube/index.ts';

/** A kind in any version. */
export type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;

/** Names one object in any version: group, kind, namespace, name. */
export function objectID(gvk: Pick<GroupVersionKind, 'group' | 'kind'>, key: ObjectKey): string {
  return [gvk.group, gvk.kind, key.namespace ?? '', key.name].join('|');
}

/** `<Kind> "<name>" in namespace "<ns>"`, as Helm writes it: the namespace may be empty. */
export function describeObject(kind: string, key: ObjectKey): string {
  return `${kind} "${key.name}" in namespace "${key.namespace ?? ''}"`;
}

/** `<Kind>/<namespace>/<name>`, or `<Kind>/<name>` for a cluster-scoped object. */
export function objectPath(kind: string, key: ObjectKey): string {
  return key.namespace === undefined
    ? `${kind}/${key.name}`
    : `${kind}/${key.namespace}/${key.name}`;
}

type Versioned = Pick<KubernetesObject, 'metadata'>;

/** True when `a` was written after `b`: resource versions are growing decimal numbers. */
export function isNewer(a: Versioned, b: Versioned): boolean {
  const [left, right] = [a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? ''];
  return left.length === right.length ? left > right : left.length > right.length;
}

import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { groupOf } from './api-group.ts';

/** Of monitoring, and of OpenShift's console: an operator works without them. */
const optionalGroups: ReadonlySet<string> = new Set([
  'monitoring.coreos.com',
  'monitoring.rhobs',
  'console.openshift.io',
]);

/**
 * Marks objects that a cluster may have no use for, so that the operator does not wait for their
 * kinds. What the bundle says itself about an object counts.
 */
export function withOptionalKind(
  object: KubernetesObject,
  crds: readonly KubernetesObject[],
): KubernetesObject {
  const group = groupOf(object.apiVersion);
  const { metadata } = object;
  if (!optionalGroups.has(group) || crds.some((crd) => groupOfCrd(crd) === group)) return object;
  if (typeof metadata !== 'object' || metadata === null) return object;
  const annotations = { [annotation.optional]: 'true', ...metadata.annotations };
  return { ...object, metadata: { ...metadata, annotations } };
}

function groupOfCrd(crd: KubernetesObject): unknown {
  return (crd['spec'] as { readonly group?: unknown } | null | undefined)?.group;
}

import type { KubernetesObject } from '../../api/meta.ts';
import { integerAt } from './fields/json-fields.ts';

/** Kinds whose status kube-controller-manager writes, with the generation that it has seen. */
const controlled: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
]);

/**
 * What is told of an object whose own controller has not looked at it yet: that one is the bound, in
 * a burst at 20 requests a second by default, and neither core nor the object.
 */
export function awaitedController(object: KubernetesObject | undefined): string | undefined {
  if (object?.apiVersion !== 'apps/v1' || !controlled.has(object.kind)) return undefined;
  const { kind, metadata, status } = object;
  const { generation = 0 } = metadata;
  if ((integerAt(status, 'observedGeneration') ?? 0) >= generation) return undefined;
  return `waiting for the ${kind} controller of Kubernetes to observe generation ${generation}`;
}

import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type KubeClient,
  liveObject,
  type ObjectKey,
  podResource,
  type Resource,
} from '../../platform/kube/index.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../fields/json-fields.ts';
import { conditionOf } from './object-conditions.ts';
import { podReason } from './pod-reason.ts';

const workloadKinds: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
]);

/** Of many pods the first say why. */
const readPods = 20;

export interface UnhealthyObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

export function isPodsController({ resource }: UnhealthyObject): boolean {
  return resource.group === 'apps' && workloadKinds.has(resource.kind);
}

/**
 * Why a workload has no ready pods: by its own condition, or by a pod of it. Undefined where nobody
 * says. Two requests.
 */
export async function workloadReason(
  client: Pick<KubeClient, 'get' | 'list'>,
  object: UnhealthyObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await liveObject(client, object, signal);
  if (live === undefined) return undefined;
  const failure = conditionOf(live, 'ReplicaFailure');
  if (failure?.status === 'True') return `${failure.reason}: ${failure.message}`;
  const labelSelector = selectorOf(live);
  const { namespace } = object.key;
  if (labelSelector === '' || namespace === undefined) return undefined;
  const options = { namespace, labelSelector, limit: readPods, signal };
  const { items } = await client.list(podResource, options);
  for (const pod of items) {
    const reason = podReason(pod);
    if (reason !== undefined) return `Pod ${pod.metadata.name ?? ''}: ${reason}`;
  }
  return undefined;
}

/** As the API server takes it. */
function selectorOf({ spec }: KubernetesObject): string {
  const labels = Object.entries(mapOf(fieldAt(spec, 'selector', 'matchLabels')));
  const expressions = listOf(fieldAt(spec, 'selector', 'matchExpressions'));
  return [
    ...labels.flatMap(([key, value]) => (typeof value === 'string' ? [`${key}=${value}`] : [])),
    ...expressions.flatMap(expressionText),
  ].join(',');
}

function expressionText(expression: unknown): string | readonly never[] {
  const key = stringAt(expression, 'key') ?? '';
  const values = listOf(fieldAt(expression, 'values')).join(',');
  switch (stringAt(expression, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return [];
  }
}

import { fieldAt, integerAt, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type KubeClient,
  liveObject,
  type ObjectKey,
  podResource,
  type Resource,
} from '../../platform/kube/index.ts';
import { conditionOf } from './status.ts';

/** Why pods of one deployment's workloads are not ready. */
export interface PodReasonsOf {
  readonly at: number;
  /** By the workload's line in the message. */
  readonly byLine: ReadonlyMap<string, string>;
}

const workloadKinds: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
]);

/** Of many pods, the first ones are enough to find a reason. */
const readPods = 20;

interface UnhealthyObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

export function isPodsController({ resource }: UnhealthyObject): boolean {
  return resource.group === 'apps' && workloadKinds.has(resource.kind);
}

/**
 * Why a workload has no ready pods, or a Pod is not ready, from its own condition or from one of its
 * pods; undefined when neither says. Takes two requests.
 */
export async function workloadReason(
  client: Pick<KubeClient, 'get' | 'list'>,
  object: UnhealthyObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await liveObject(client, object, signal);
  if (live === undefined) return undefined;
  if (object.resource.kind === podResource.kind) return podReason(live);
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

/** The selector as the API server's query parameter. */
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

/** Waiting reasons of a container that starts normally. */
const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
const longestText = 300;

/**
 * Why a Pod is not ready, in the words of the kubelet or scheduler; undefined when its status does
 * not say.
 */
export function podReason(pod: KubernetesObject): string | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    return shortened(`${scheduled.reason ?? ''}: ${scheduled.message ?? ''}`);
  }
  const containers = ['initContainerStatuses', 'containerStatuses'].flatMap((field) =>
    listOf(fieldAt(pod['status'], field)),
  );
  for (const container of containers) {
    const reason = containerReason(container);
    if (reason !== undefined) {
      return shortened(`container ${stringAt(container, 'name') ?? ''}: ${reason}`);
    }
  }
  return undefined;
}

function containerReason(container: unknown): string | undefined {
  const reason = stringAt(container, 'state', 'waiting', 'reason');
  if (reason === undefined || passing.has(reason)) return undefined;
  const exit = integerAt(container, 'lastState', 'terminated', 'exitCode');
  const last = stringAt(container, 'lastState', 'terminated', 'reason') ?? 'Error';
  if (exit !== undefined) return `${reason}, after it ended with exit code ${exit} (${last})`;
  const message = stringAt(container, 'state', 'waiting', 'message');
  return message === undefined ? reason : `${reason}: ${message}`;
}

function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}

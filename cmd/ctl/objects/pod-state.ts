import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { computeStatus, podReason } from '../../../core/apply/index.ts';

/** A state in a word, and what explains it. `now` is in milliseconds. */
export interface ObjectState {
  readonly status: string;
  readonly message: string;
}

/** As kstatus has it; of Pods in the words of `kubectl get pods`, and with the reason. */
export function stateOf(object: KubernetesObject, now: number): ObjectState {
  const { status, message } = computeStatus(object, now);
  if (object.kind !== 'Pod' || object.apiVersion !== 'v1') return { status, message };
  if (object.metadata.deletionTimestamp !== undefined) return { status, message };
  const phase = stringAt(object['status'], 'phase') ?? 'Unknown';
  return { status: phase, message: podMessage(object) ?? message };
}

/** Why it is not ready, or how much of it is. */
function podMessage(pod: KubernetesObject): string | undefined {
  const reason = podReason(pod);
  if (reason !== undefined) return reason;
  const containers = listOf(fieldAt(pod['status'], 'containerStatuses'));
  if (containers.length === 0) return undefined;
  const ready = containers.filter((container) => fieldAt(container, 'ready') === true).length;
  return `${ready} of ${containers.length} containers ready`;
}

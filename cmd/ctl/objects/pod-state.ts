import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, integerAt, listOf, stringAt } from '../../../core/apply/fields/json-fields.ts';
import { computeStatus } from '../../../core/apply/health/compute-status.ts';

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

function podMessage({ status }: KubernetesObject): string | undefined {
  const containers = listOf(fieldAt(status, 'containerStatuses'));
  const troubled = containers.flatMap((container) => troubleOf(container) ?? []);
  if (troubled.length > 0) return troubled.join(', ');
  const unscheduled = listOf(fieldAt(status, 'conditions')).find(
    (condition) =>
      stringAt(condition, 'type') === 'PodScheduled' && stringAt(condition, 'status') === 'False',
  );
  if (unscheduled !== undefined) {
    return `${stringAt(unscheduled, 'reason') ?? 'not scheduled'}: ${stringAt(unscheduled, 'message') ?? ''}`;
  }
  if (containers.length === 0) return undefined;
  const ready = containers.filter((container) => fieldAt(container, 'ready') === true).length;
  return `${ready} of ${containers.length} containers ready`;
}

/** Why a container does not run, where it does not. */
function troubleOf(container: unknown): string | undefined {
  const waiting = stringAt(container, 'state', 'waiting', 'reason');
  if (waiting === undefined || waiting === 'ContainerCreating') return undefined;
  const restarts = integerAt(container, 'restartCount') ?? 0;
  const often = restarts === 0 ? '' : `, ${restarts} restarts`;
  const why = stringAt(container, 'state', 'waiting', 'message');
  return `container ${stringAt(container, 'name')}: ${waiting}${often}${why === undefined ? '' : ` (${why})`}`;
}

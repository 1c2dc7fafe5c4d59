import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, listOf, stringAt } from '../fields/json-fields.ts';
import { conditionOf, isTrue } from './object-conditions.ts';
import { current, failed, inProgress, type ObjectStatus } from './status.ts';

/** How long the scheduler may take before an unschedulable Pod counts as failed. */
const scheduleWindow = 15_000;

export function podStatus(object: KubernetesObject, now: number): ObjectStatus {
  const phase = stringAt(object['status'], 'phase') ?? '';
  switch (phase) {
    case 'Succeeded':
      return current('Pod has completed successfully');
    case 'Failed':
      return current('Pod has completed, but not successfully');
    case 'Running':
      return runningStatus(object);
    case 'Pending':
      return pendingStatus(object, now);
    case '':
      return inProgress('Pod phase not available');
    default:
      return inProgress(`unknown Pod phase ${phase}`);
  }
}

function runningStatus(object: KubernetesObject): ObjectStatus {
  if (isTrue(object, 'Ready')) return current('Pod is Ready');
  const looping = listOf(fieldAt(object['status'], 'containerStatuses'))
    .filter((container) => stringAt(container, 'state', 'waiting', 'reason') === 'CrashLoopBackOff')
    .map((container) => stringAt(container, 'name') ?? '');
  return looping.length > 0
    ? failed(`Containers in CrashLoop state: ${looping.join(',')}`)
    : inProgress('Pod is running but is not Ready');
}

function pendingStatus(object: KubernetesObject, now: number): ObjectStatus {
  const scheduled = conditionOf(object, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') {
    return inProgress('Pod is in the Pending phase');
  }
  const left = Date.parse(scheduled.lastTransitionTime) + scheduleWindow - now;
  // A time that cannot be read is no reason to wait.
  return left > 0
    ? { ...inProgress('Pod has not been scheduled'), recheckAfter: left }
    : failed('Pod could not be scheduled');
}

import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, integerAt, listOf, stringAt } from '../fields/json-fields.ts';
import { conditionOf } from './object-conditions.ts';

/** What a container waits for on its way, and no reason to worry. */
const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
const longestText = 300;

/** Why a Pod does not get ready, in the words of who keeps it; undefined where nobody says. */
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

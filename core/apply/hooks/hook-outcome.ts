import type { KubernetesObject } from '../../../api/meta.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import { fieldAt, integerAt, listOf, stringAt } from '../fields/json-fields.ts';
import { conditionOf, isTrue } from '../health/object-conditions.ts';

/** What has become of a hook's object. */
export type HookOutcome =
  | { readonly state: 'running' }
  | { readonly state: 'succeeded' }
  /** Why, as a clause. */
  | { readonly state: 'failed'; readonly reason: string };

/** A Job and a Pod have to end well; everything else is done once it exists. */
export function hookOutcome(object: KubernetesObject): HookOutcome {
  const { group, kind } = gvkOf(object);
  if (group === 'batch' && kind === 'Job') return jobOutcome(object);
  if (group === '' && kind === 'Pod') return podOutcome(object);
  return { state: 'succeeded' };
}

function jobOutcome(job: KubernetesObject): HookOutcome {
  if (isTrue(job, 'Complete')) return { state: 'succeeded' };
  const failed = conditionOf(job, 'Failed');
  if (failed?.status !== 'True') return { state: 'running' };
  return { state: 'failed', reason: withReason(failed.message, failed.reason) };
}

function podOutcome({ status }: KubernetesObject): HookOutcome {
  const phase = stringAt(status, 'phase');
  if (phase === 'Succeeded') return { state: 'succeeded' };
  if (phase !== 'Failed') return { state: 'running' };
  const message = stringAt(status, 'message') ?? containerFailure(status) ?? 'the Pod has failed';
  return { state: 'failed', reason: withReason(message, stringAt(status, 'reason')) };
}

function containerFailure(status: unknown): string | undefined {
  for (const list of ['initContainerStatuses', 'containerStatuses']) {
    for (const container of listOf(fieldAt(status, list))) {
      const code = integerAt(container, 'state', 'terminated', 'exitCode') ?? 0;
      if (code === 0) continue;
      return `container ${stringAt(container, 'name') ?? ''} ended with exit code ${code}`;
    }
  }
  return undefined;
}

function withReason(message: string, reason = ''): string {
  if (message === '') return reason === '' ? 'it says no reason' : reason;
  return reason === '' ? message : `${message} (${reason})`;
}

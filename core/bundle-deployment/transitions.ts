import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  progressReason,
  bundleDeploymentReason as reason,
} from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { findCondition } from '../runtime/conditions.ts';

/** Reasons that merely repeat another condition's news. */
const silent: ReadonlySet<string> = new Set([reason.installationStatusFalse]);

/** Not yet healthy is how every installation begins, and some waiting was asked for. */
const expected: ReadonlySet<string> = new Set([
  reason.unhealthy,
  progressReason.paused,
  progressReason.awaitingApproval,
  progressReason.waitingForDependencies,
  progressReason.waitingForStage,
  progressReason.deleting,
]);

/** Records an Event for each condition that says something new. */
export function recordTransitions(
  events: EventSink,
  { before, after }: { before: BundleDeployment; after: BundleDeployment },
): void {
  for (const condition of after.status?.conditions ?? []) {
    const old = findCondition(before.status?.conditions, condition.type);
    if (silent.has(condition.reason) || sameNews(condition, old)) continue;
    events.event(after, {
      type: isExpected(condition) ? 'Normal' : 'Warning',
      reason: condition.reason,
      message: condition.message,
    });
  }
}

function sameNews(condition: Condition, old: Condition | undefined): boolean {
  return old?.reason === condition.reason && old.message === condition.message;
}

function isExpected({ type, status, reason: why }: Condition): boolean {
  if (type === bundleDeploymentCondition.drifted) return status !== 'True';
  return status === 'True' || expected.has(why);
}

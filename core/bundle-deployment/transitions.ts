import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  progressReason,
  bundleDeploymentReason as reason,
} from '../../api/v1alpha1/conditions.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { findCondition } from '../runtime/conditions.ts';

/** Reasons that merely repeat another condition's news, or say that there is none yet. */
const silent: ReadonlySet<string> = new Set([reason.installationStatusFalse, reason.unpackPending]);

/** What goes without saying in the moment in which a Bundle is installed. */
const impliedByInstallation: ReadonlySet<string> = new Set([
  reason.unpackSuccessful,
  reason.unhealthy,
]);

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
  for (const condition of newsOf(before, after)) {
    events.event(after, {
      type: isExpected(condition) ? 'Normal' : 'Warning',
      reason: condition.reason,
      message: condition.message,
    });
  }
}

/** An Event is a request, and most installations are told of by two of them. */
function newsOf(before: BundleDeployment, after: BundleDeployment): readonly Condition[] {
  const news = (after.status?.conditions ?? []).filter((condition) => {
    const old = findCondition(before.status?.conditions, condition.type);
    return !silent.has(condition.reason) && !sameNews(condition, old);
  });
  const installs = news.some(({ reason: why }) => why === reason.installationSucceeded);
  return installs ? news.filter(({ reason: why }) => !impliedByInstallation.has(why)) : news;
}

function sameNews(condition: Condition, old: Condition | undefined): boolean {
  return old?.reason === condition.reason && old.message === condition.message;
}

function isExpected({ type, status, reason: why }: Condition): boolean {
  if (type === bundleDeploymentCondition.drifted) return status !== 'True';
  return status === 'True' || expected.has(why);
}

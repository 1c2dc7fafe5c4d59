import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  progressReason,
} from '../../api/v1alpha1/conditions.ts';
import { findCondition } from '../platform/runtime/index.ts';

/** What these say at the end of a reconcile means that it repaired the active Bundle. */
const notBegun: ReadonlySet<string | undefined> = new Set([
  progressReason.waitingForDependencies,
  progressReason.awaitingApproval,
  bundleDeploymentReason.unpackPending,
  bundleDeploymentReason.unpackFailed,
]);

const begun: ReadonlySet<string> = new Set([
  progressReason.waitingForStage,
  progressReason.waitingForHook,
  bundleDeploymentReason.upgradeFailed,
]);

/** Half of the new Bundle is there already: to go back now would only do harm. */
export function hasBegun({ status, metadata }: BundleDeployment): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  const reasonOf = (type: string) => findCondition(status?.conditions, type)?.reason;
  const { installed, progressing, hasValidBundle } = bundleDeploymentCondition;
  if (notBegun.has(reasonOf(progressing)) || notBegun.has(reasonOf(hasValidBundle))) return false;
  const reason = reasonOf(installed);
  return reason !== undefined && begun.has(reason);
}

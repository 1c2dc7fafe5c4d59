import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState } from '../phase.ts';

/** With these reasons at the end of a reconcile, core only repaired the active Bundle. */
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

/**
 * Whether a part of the template's Bundle is applied already, or its hooks have run: going back to
 * the active one now would only do harm. A Bundle that was deleted and made again counts as the
 * same.
 */
export function hasBegun(
  deployment: BundleDeployment,
  bundle: Bundle,
  { lastApplied }: Pick<ReconcileDependencies, 'lastApplied'>,
): boolean {
  if (lastApplied.hasBegun(deployment, bundle)) return true;
  const { applied } = deployment.status ?? {};
  return applied === undefined ? isTold(deployment) : applied.begun === bundle.metadata.name;
}

/**
 * Whether the template's Bundle has begun to replace the active one, which core would otherwise
 * apply again while the template's must wait: then all objects would be replaced twice. A rollback
 * is the decision to go back.
 */
export function isHalfApplied(
  { deployment, bundle, status }: BundleDeploymentState,
  dependencies: Pick<ReconcileDependencies, 'lastApplied'>,
): boolean {
  if (bundle === undefined || bundle.metadata.name === status.activeBundle) return false;
  return status.rollback === undefined && hasBegun(deployment, bundle, dependencies);
}

/**
 * For a status without a record of what is applied, such as that of an earlier version of core. The
 * conditions tell it of the present generation only.
 */
function isTold({ status, metadata }: BundleDeployment): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  const reasonOf = (type: string) => findCondition(status?.conditions, type)?.reason;
  const { installed, progressing, hasValidBundle } = bundleDeploymentCondition;
  if (notBegun.has(reasonOf(progressing)) || notBegun.has(reasonOf(hasValidBundle))) return false;
  const reason = reasonOf(installed);
  return reason !== undefined && begun.has(reason);
}

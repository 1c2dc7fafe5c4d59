import { parseDuration } from '../../../api/duration.ts';
import type {
  BundleDeploymentSpec,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';

/** Earlier Bundles kept for a deployment that rolls back and names no limit. */
const defaultLimit = 2;

/** How many earlier Bundles are kept to go back to; with spec.rollback there is always one. */
export function keptRevisions({ rollback, revisionHistoryLimit }: BundleDeploymentSpec): number {
  if (rollback === undefined) return revisionHistoryLimit ?? 0;
  return Math.max(revisionHistoryLimit ?? defaultLimit, 1);
}

/** Whether status.progress is kept: by RukPak's API alone there is none. */
export function keepsProgress(spec: BundleDeploymentSpec): boolean {
  return keptRevisions(spec) > 0 || spec.health?.progressDeadline !== undefined;
}

/** Milliseconds that a new Bundle has to become healthy; undefined where it has forever. */
export function rollbackDeadline({ rollback }: BundleDeploymentSpec): number | undefined {
  return rollback === undefined ? undefined : parseDuration(rollback.deadline);
}

/** The status without what the spec no longer asks for. */
export function onlyAskedFor(
  { progress, history, rollback, ...rest }: BundleDeploymentStatus,
  spec: BundleDeploymentSpec,
): BundleDeploymentStatus {
  return {
    ...rest,
    ...(progress !== undefined && keepsProgress(spec) && { progress }),
    ...(rollback !== undefined && spec.rollback !== undefined && { rollback }),
    ...(history !== undefined && keptRevisions(spec) > 0 && { history }),
  };
}

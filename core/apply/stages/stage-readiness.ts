import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DriftDetector } from '../drift/drift.ts';
import { driftMode } from '../drift/drift-policy.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { PlannedObject } from '../objects/planned.ts';
import type { OwnerState } from '../state/owner-state.ts';

/** The line for an object that is not healthy. */
export type ProblemOf = (object: DesiredObject) => string | undefined;

/** What a run knows of the objects that it applied before. */
export interface AppliedRun {
  readonly owner: BundleDeployment;
  /** Each stage begins only when the one before is healthy. */
  readonly waitForReady: boolean;
  readonly state: OwnerState;
}

/**
 * Judges by what the watches know whether objects that were applied are healthy; their next change
 * of health wakes the owner. Of drift that is let be this is said: only others can end that wait.
 * Undefined where stages do not wait: nobody asked for it, or there is nothing but repairs.
 */
export function readinessOf(
  run: AppliedRun,
  plan: readonly PlannedObject[],
  drift: Pick<DriftDetector, 'health'>,
): ProblemOf | undefined {
  if (!run.waitForReady || plan.every(({ repair }) => repair)) return undefined;
  return ({ id }) => {
    const record = run.state.recordOf(id);
    const problem = record === undefined ? undefined : drift.health(record);
    if (problem === undefined || record?.accepted === undefined) return problem;
    const mode = driftMode(run.owner);
    return `${problem} (others changed or deleted it, and nothing is put back while spec.drift.mode is ${mode})`;
  };
}

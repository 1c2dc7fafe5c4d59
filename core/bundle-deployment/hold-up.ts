import type { HoldUp } from '../contracts/applier.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { ownBundle } from './own-bundles.ts';
import type { BundleDeploymentState, StepOutcome } from './state.ts';

/**
 * Notes why the Bundle of the template is not brought out now, for the condition Progressing, and
 * goes on with what is installed: its drift is repaired however long the new one waits.
 */
export function holdUp(
  state: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'bundles'>,
  because: HoldUp,
): StepOutcome {
  state.holdUp ??= because;
  return fallBack(state, dependencies);
}

/** Makes the active Bundle the one to apply; ends the reconcile where there is none to apply. */
export function fallBack(
  state: BundleDeploymentState,
  { bundles }: Pick<BundleDeploymentDependencies, 'bundles'>,
): StepOutcome {
  const { activeBundle, rollback } = state.status;
  const active = ownBundle(state.deployment, rollback?.to ?? activeBundle, bundles);
  if (active?.status?.phase !== 'Unpacked') return 'done';
  if (active.metadata.deletionTimestamp !== undefined) return 'done';
  state.target = active;
  return 'continue';
}

import { withAppliedRendering } from '../applied-rendering.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withHooksDone } from '../hooks/hooks-status.ts';
import { withApplied } from '../revisions/record.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';
import { installed } from '../status.ts';

/** Makes the target the active Bundle: all of it is applied, and its hooks have run. */
export async function noteInstalled(
  state: BundleDeploymentState,
  { clock, lastApplied }: ReconcileDependencies,
): Promise<StepOutcome> {
  const { deployment, recipe } = state;
  if (recipe !== undefined) lastApplied.complete(deployment, recipe);
  state.status = installed(state.status, state.target?.metadata.name ?? '', clock);
  state.status = withApplied(state, clock);
  state.status = withHooksDone(state);
  state.status = withAppliedRendering(state);
  return 'continue';
}

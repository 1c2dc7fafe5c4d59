import { annotation } from '../../../api/v1alpha1/labels.ts';
import { withNote } from '../../../api/v1alpha1/noted-value.ts';
import { annotate } from '../annotate.ts';
import { withAppliedRendering } from '../applied-rendering.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withHooksDone } from '../hooks/hook-run.ts';
import { withApplied } from '../revisions/history.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { installed } from '../status.ts';

/** Makes the target the active Bundle: all of it is applied, and its hooks have run. */
export async function noteInstalled(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { clock, lastApplied } = dependencies;
  const { deployment, recipe } = state;
  if (recipe !== undefined) lastApplied.complete(deployment, recipe);
  state.status = installed(state.status, state.target?.metadata.name ?? '', clock);
  state.status = withApplied(state, clock);
  state.status = withHooksDone(state);
  state.status = withAppliedRendering(state);
  await noteHooks(state, dependencies, context);
  return 'continue';
}

/** On the deployment itself too: a restore without its status must not run its hooks again. */
async function noteHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal }: StepContext,
): Promise<void> {
  const { name = '', annotations = {} } = state.deployment.metadata;
  const key = annotation.hooksApplied;
  const { applied } = state.status.hooks ?? {};
  const value = applied === undefined ? undefined : withNote(name, applied);
  if (annotations[key] === value) return;
  await annotate(state, { [key]: value ?? null }, { dependencies, signal });
}

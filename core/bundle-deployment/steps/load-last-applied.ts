import type { ReconcileDependencies } from '../dependencies.ts';
import { takeRendering } from '../hooks/take-rendering.ts';
import { renderAgain } from '../render.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';

/**
 * Takes the target's objects as they were applied last, whatever the spec says since; false where
 * this process does not know how they were.
 */
export async function loadLastApplied(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<boolean> {
  const { deployment, target } = state;
  const recipe = target && dependencies.lastApplied.get(deployment, target);
  const rendered = recipe && (await renderAgain(recipe, dependencies, context));
  if (rendered === undefined) return false;
  await takeRendering(state, rendered, context);
  state.kept = true;
  return true;
}

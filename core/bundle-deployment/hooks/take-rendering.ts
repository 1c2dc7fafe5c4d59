import { splitHooks } from '../../apply/index.ts';
import type { Rendered } from '../rendered-objects.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { revisionOf } from './revision.ts';

/** Puts what a class has made of the target into the state, hooks apart. */
export async function takeRendering(
  state: BundleDeploymentState,
  rendered: Rendered | undefined,
  { signal }: Pick<StepContext, 'signal'>,
): Promise<void> {
  const split = splitHooks(rendered?.objects ?? []);
  const name = state.target?.metadata.name ?? '';
  state.recipe = rendered?.recipe;
  state.objects = split.objects;
  state.hooks = split.hooks;
  state.revision = split.hooks.length === 0 ? undefined : await revisionOf(name, split, signal);
}

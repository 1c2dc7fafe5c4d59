import type { KubernetesObject } from '../../../api/meta.ts';
import { splitHooks } from '../../apply/hooks/split-hooks.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { revisionOf } from './revision.ts';

/** Puts what a class has made of the target into the state, hooks apart. */
export async function takeRendering(
  state: BundleDeploymentState,
  rendered: readonly KubernetesObject[],
  { signal }: Pick<StepContext, 'signal'>,
): Promise<void> {
  const split = splitHooks(rendered);
  const name = state.target?.metadata.name ?? '';
  state.objects = split.objects;
  state.hooks = split.hooks;
  state.revision = split.hooks.length === 0 ? undefined : await revisionOf(name, split, signal);
}

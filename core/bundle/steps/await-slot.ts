import type { UnpackDependencies } from '../dependencies.ts';
import { sourceHost } from '../source-host.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';

/** Waits until there is room for one more unpacking, at the source's host and in this process. */
export async function awaitSlot(
  state: BundleState,
  { slots }: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const host = sourceHost(state.bundle.spec.source);
  state.slot = await slots.take(host, AbortSignal.any([signal, stopping]));
  return 'continue';
}

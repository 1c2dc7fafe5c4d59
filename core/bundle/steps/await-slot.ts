import type { UnpackDependencies } from '../dependencies.ts';
import { sourceHost } from '../source-host.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { placesOf } from '../unpack-places.ts';

/**
 * Waits until there is room for one more unpacking: at the source's host and in this process. Content
 * that is here already is held for nothing until it goes on, so it comes first.
 */
export async function awaitSlot(
  state: BundleState,
  dependencies: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const { slots } = placesOf(state.bundle, dependencies);
  const waiting = AbortSignal.any([signal, stopping]);
  state.slot =
    state.fetched === undefined
      ? await slots.take(sourceHost(state.bundle.spec.source), waiting)
      : await slots.takeWithContent(waiting);
  return 'continue';
}

import type { UnpackDependencies } from '../dependencies.ts';
import { sourceHost } from '../source-host.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { placesOf } from '../unpack-places.ts';

/**
 * Waits until there is room for one more unpacking: at the source's machine and in this process. Content
 * that is here already is held for nothing until it goes on, so it comes first.
 */
export async function awaitSlot(
  state: BundleState,
  dependencies: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const { bundle } = state;
  const { slots } = placesOf(bundle, dependencies);
  const waiting = AbortSignal.any([signal, stopping]);
  const creator = dependencies.creatorOf(bundle);
  if (state.fetched !== undefined) {
    state.slot = await slots.takeWithContent(creator, waiting);
    return 'continue';
  }
  const address = await dependencies.addressOf(
    sourceHost(bundle.spec.source, dependencies.sources),
  );
  state.slot = await slots.take({ creator, address }, waiting);
  return 'continue';
}

import type { UnpackDependencies } from '../dependencies.ts';
import { wantedSource } from '../known-pin.ts';
import { OwnFetch } from '../shared-fetches.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { fetchFailed } from '../status.ts';
import { placesOf } from '../unpack-places.ts';

/** Takes the content that others fetch already; where nobody does, this Bundle is to fetch it. */
export async function joinFetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const { fetches } = placesOf(state.bundle, dependencies);
  const identity = dependencies.secrets.identityOf(state.bundle);
  const waiting = AbortSignal.any([signal, stopping]);
  try {
    const joined = await fetches.join(wantedSource(state.bundle), waiting, identity);
    if (joined instanceof OwnFetch) state.ownFetch = joined;
    else state.fetched = joined;
    return 'continue';
  } catch (error) {
    if (!waiting.aborted) state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
}

import { stringifyJson } from '../../../api/json.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import { wantedSource } from '../known-pin.ts';
import { OwnFetch } from '../shared-fetches.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { fetchFailed } from '../status.ts';
import { placesOf } from '../unpack-places.ts';

/** The same for Bundles that one fetch is enough for; what another identity may read is not taken. */
function sharedKey(
  bundle: Bundle,
  { sources, secrets }: Pick<UnpackDependencies, 'sources' | 'secrets'>,
): string | undefined {
  const wanted = wantedSource(bundle, sources);
  if (sources.get(wanted.type)?.shareable !== true) return undefined;
  return stringifyJson([wanted, secrets.identityOf(bundle)]);
}

/** Takes the content that others fetch already; where nobody does, this Bundle is to fetch it. */
export async function joinFetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const { fetches } = placesOf(state.bundle, dependencies);
  const waiting = AbortSignal.any([signal, stopping]);
  try {
    const joined = await fetches.join(sharedKey(state.bundle, dependencies), waiting);
    if (joined instanceof OwnFetch) state.ownFetch = joined;
    else state.fetched = joined;
    return 'continue';
  } catch (error) {
    if (!waiting.aborted) state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
}

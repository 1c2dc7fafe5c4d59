import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { BundleDependencies } from '../dependencies.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { notUnpacked } from '../status.ts';

/** Gets the content from its source: from where it was pinned to, once it has been resolved. */
export async function fetch(
  state: BundleState,
  dependencies: BundleDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    state.fetched = await fetchContent(state, dependencies, context);
    return 'continue';
  } catch (error) {
    const failure = { error, prefix: 'source bundle content: ' };
    state.status = notUnpacked(state.status, failure, dependencies.clock);
    throw error;
  }
}

async function fetchContent(
  state: BundleState,
  dependencies: BundleDependencies,
  context: StepContext,
): Promise<SourceResult> {
  const { sources, secrets, limits } = dependencies;
  const wanted = wantedSource(state.bundle);
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(`source type "${wanted.type}" not supported`);
  }
  return withTimeLimit(
    (signal) => source.fetch(wanted, { signal, logger: context.logger, limits, secrets }),
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

/** The pin, with the credentials of the spec: RukPak's pins of images have lost theirs. */
function wantedSource({ spec, status }: Bundle): BundleSource {
  const pin = status?.resolvedSource;
  const pullSecret = spec.source.image?.pullSecret;
  if (pin?.image === undefined || pullSecret === undefined) return pin ?? spec.source;
  return { ...pin, image: { ...pin.image, pullSecret } };
}

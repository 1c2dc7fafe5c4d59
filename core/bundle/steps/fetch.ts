import type { SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { onBehalfOf } from '../../runtime/on-behalf-of.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { storedContentKey } from '../content-key.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import { wantedSource } from '../known-pin.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { fetchFailed } from '../status.ts';

/** Gets the content from its source: from where it was pinned to, once it has been resolved. */
export async function fetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { slot, ownFetch } = state;
  if (slot === undefined) return 'done';
  try {
    const fetching = () => fetchContent(state, dependencies, context);
    state.fetched = await slot.fetch(fetching, context.signal);
    ownFetch?.succeed(state.fetched);
    return 'continue';
  } catch (error) {
    // An end that is this Bundle's alone is none for the others.
    if (!context.signal.aborted) ownFetch?.fail(error);
    state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
}

async function fetchContent(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<SourceResult> {
  const { sources, secrets, configMaps, limits, creatorOf } = dependencies;
  const wanted = wantedSource(state.bundle);
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(`source type "${wanted.type}" not supported`);
  }
  return withTimeLimit(
    (signal) =>
      source.fetch(wanted, {
        bundle: storedContentKey(state.bundle),
        signal: onBehalfOf(creatorOf(state.bundle), signal),
        logger: context.logger,
        limits,
        secrets: secrets.of(state.bundle),
        configMaps,
      }),
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

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
  const wanted = state.bundle.status?.resolvedSource ?? state.bundle.spec.source;
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(`source type "${wanted.type}" not supported`);
  }
  return withTimeLimit(
    (signal) => source.fetch(wanted, { signal, logger: context.logger, limits, secrets }),
    { limit: limits.timeout, signal: context.signal },
  );
}

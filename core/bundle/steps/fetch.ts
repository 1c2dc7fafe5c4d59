import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { type InTurn, type MemoryShare, withTimeLimit } from '../../platform/runtime/index.ts';
import { storedContentKey } from '../content-key.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import { wantedSource } from '../known-pin.ts';
import type { FetchedContent } from '../shared-fetches.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { fetchFailed } from '../status.ts';

/** Content is held as it was fetched and, until it is stored, as its class has converted it. */
const timesHeld = 2;

/** Gets the content from its source: from where it was pinned to, once it has been resolved. */
export async function fetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { slot, ownFetch } = state;
  if (slot === undefined) return 'done';
  state.doing = `fetching it from its source of type ${state.bundle.spec.source.type}`;
  try {
    state.fetched = await slot.fetch(async () => {
      // Kept at once: it is to be released even where there is no slot to go on with.
      state.fetched = await fetchWithinMemory(state, dependencies, context);
      return state.fetched;
    }, context.signal);
    ownFetch?.succeed(state.fetched);
    return 'continue';
  } catch (error) {
    // An end that is this Bundle's alone is none for the others.
    if (!context.signal.aborted) ownFetch?.fail(error);
    state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
}

/** The budget may end the fetch, for others to have the memory that a slow server keeps from them. */
async function fetchWithinMemory(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<FetchedContent> {
  const ended = new AbortController();
  const onEnd = (reason: Error): void => ended.abort(reason);
  const memory = dependencies.memory.open({ kind: 'fetch', onEnd });
  try {
    const signal = AbortSignal.any([context.signal, ended.signal]);
    const result = await fetchContent(state, { ...dependencies, memory }, { ...context, signal });
    memory.settle(timesHeld * bytesOf(result));
    return { ...result, memory };
  } catch (error) {
    memory.release();
    throw error;
  }
}

async function fetchContent(
  state: BundleState,
  dependencies: Omit<UnpackDependencies, 'memory'> & { readonly memory: MemoryShare },
  context: StepContext,
): Promise<SourceResult> {
  const { sources, secrets, configMaps, limits, memory, creatorOf } = dependencies;
  const wanted = wantedSource(state.bundle, sources);
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(
      `source type "${wanted.type}" not supported${otherTypes(wanted, sources)}`,
    );
  }
  return withTimeLimit(
    (signal, countdown) => {
      const given: InTurn<SourceContext> = {
        bundle: storedContentKey(state.bundle),
        signal,
        turn: { creator: creatorOf(state.bundle), countdown },
        logger: context.logger,
        limits,
        secrets: secrets.of(state.bundle),
        configMaps,
        memory: {
          take: (bytes) => countdown.uncounted(() => memory.take(timesHeld * bytes, signal)),
        },
      };
      return source.fetch(wanted, given);
    },
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

/** A third party's type may be misspelt, or served by another process. */
function otherTypes({ parameters }: BundleSource, sources: UnpackDependencies['sources']): string {
  if (parameters === undefined) return '';
  return `: this process serves ${[...sources.keys()].toSorted().join(', ')}`;
}

function bytesOf({ files }: SourceResult): number {
  let bytes = 0;
  for (const content of files.files.values()) bytes += content.byteLength;
  return bytes;
}

import { stringifyJson } from '../../../api/json.ts';
import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { ContentMemory, SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import {
  type InTurn,
  type MemoryShare,
  type Turn,
  withTimeLimit,
} from '../../platform/runtime/index.ts';
import {
  type BundleState,
  type StepContext,
  type StepOutcome,
  storedContentKey,
  type UnpackDependencies,
} from '../dependencies.ts';
import { fetchFailed } from '../status.ts';
import { checkPinned, wantedSource } from './pin.ts';
import { type FetchedContent, OwnFetch } from './shared-fetches.ts';
import { sourceHost } from './source-secrets.ts';
import { pinToUnpack } from './stored-upload.ts';
import { placesOf, UnpackSlot } from './unpack-slots.ts';

/**
 * Equal for Bundles that can share one fetch; includes the identity that reads the Secret, so that
 * nobody gets content of another identity.
 */
function sharedKey(
  bundle: Bundle,
  { sources, secrets }: Pick<UnpackDependencies, 'sources' | 'secrets'>,
): string | undefined {
  const wanted = wantedSource(bundle, sources);
  if (sources.get(wanted.type)?.shareable !== true) return undefined;
  return stringifyJson([wanted, secrets.identityOf(bundle)]);
}

/**
 * Waits for a place for one more unpacking, at the source's machine and in this process, or for the
 * same content from the fetch of another Bundle, whichever comes first: a Bundle waits in the line of
 * its own creator only. Fetched content only occupies memory until it continues, so it comes first.
 */
export async function awaitSlot(
  state: BundleState,
  dependencies: UnpackDependencies,
  { signal, stopping }: StepContext,
): Promise<StepOutcome> {
  const waiting = AbortSignal.any([signal, stopping]);
  try {
    const first = await slotOrContent(state.bundle, dependencies, waiting);
    if (first instanceof UnpackSlot) state.slot = first;
    else state.fetched = first;
  } catch (error) {
    if (!waiting.aborted) state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
  if (state.fetched === undefined) return 'continue';
  const { slots } = placesOf(state.bundle, dependencies);
  state.slot = await slots.takeWithContent(dependencies.creatorOf(state.bundle), waiting);
  return 'continue';
}

async function slotOrContent(
  bundle: Bundle,
  dependencies: UnpackDependencies,
  signal: AbortSignal,
): Promise<UnpackSlot | FetchedContent> {
  const { fetches } = placesOf(bundle, dependencies);
  const key = sharedKey(bundle, dependencies);
  const decided = new AbortController();
  const until = AbortSignal.any([signal, decided.signal]);
  const taking = takeSlot(bundle, dependencies, until);
  const sharing = key === undefined ? [] : [fetches.contentOf(key, until)];
  let first: UnpackSlot | FetchedContent | undefined;
  try {
    first = await Promise.race([taking, ...sharing]);
    return first;
  } finally {
    decided.abort();
    // The other one may have come at the same moment.
    const won = first;
    for (const other of [taking, ...sharing]) void other.then(giveBackUnless(won), () => undefined);
  }
}

function giveBackUnless(won: unknown): (late: UnpackSlot | FetchedContent) => void {
  return (late) => {
    if (late === won) return;
    if (late instanceof UnpackSlot) late.release();
    else late.memory.release();
  };
}

async function takeSlot(
  bundle: Bundle,
  dependencies: UnpackDependencies,
  signal: AbortSignal,
): Promise<UnpackSlot> {
  const { slots } = placesOf(bundle, dependencies);
  const creator = dependencies.creatorOf(bundle);
  const host = sourceHost(bundle.spec.source, dependencies.sources);
  const address = await dependencies.addressOf(host);
  return await slots.take({ creator, address }, signal);
}

/**
 * Memory has the fetched content and, until it is stored, the content that the class has converted.
 */
const timesHeld = 2;

/**
 * Fetches the content from its source, a resolved source from its pin, unless another Bundle with a
 * place is fetching it.
 */
export async function fetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { slot } = state;
  if (slot === undefined) return 'done';
  state.doing = `fetching it from its source of type ${state.bundle.spec.source.type}`;
  try {
    state.fetched = await slot.fetch(async () => {
      // Recorded at once, so that it is released even without a slot to continue.
      state.fetched = await joinOrFetch(state, dependencies, context);
      return state.fetched;
    }, context.signal);
    return 'continue';
  } catch (error) {
    // The end of this Bundle alone must not fail the others.
    if (!context.signal.aborted) state.ownFetch?.fail(error);
    state.status = fetchFailed(state.status, error, dependencies.clock);
    throw error;
  }
}

async function joinOrFetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<FetchedContent> {
  const { fetches } = placesOf(state.bundle, dependencies);
  const waiting = AbortSignal.any([context.signal, context.stopping]);
  const joined = await fetches.join(sharedKey(state.bundle, dependencies), waiting);
  if (!(joined instanceof OwnFetch)) return joined;
  state.ownFetch = joined;
  const content = await fetchWithinMemory(state, dependencies, context);
  // At once: those who wait for it may have the places that this Bundle needs to continue.
  joined.succeed(content);
  return content;
}

/** The budget may end the fetch, to free memory that a slow server occupies. */
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
    const fetching = { ...dependencies, memory, ended: ended.signal };
    const result = await fetchContent(state, fetching, { ...context, signal });
    memory.settle(timesHeld * bytesOf(result.files));
    return { ...result, memory };
  } catch (error) {
    memory.release();
    throw error;
  }
}

interface OwnMemory {
  readonly memory: MemoryShare;
  /** Aborted when the budget ends the share. */
  readonly ended: AbortSignal;
}

function contentMemory(
  { memory, ended }: OwnMemory,
  { countdown, signal }: Required<Pick<Turn, 'countdown'>> & { readonly signal: AbortSignal },
): ContentMemory {
  const takeUntil = (signal: AbortSignal) => (bytes: number) =>
    countdown.uncounted(() => memory.take(timesHeld * bytes, signal));
  return {
    take: takeUntil(signal),
    lend: (signal) => {
      memory.retain();
      const either = AbortSignal.any([signal, ended]);
      return { signal: either, take: takeUntil(either), release: () => memory.release() };
    },
  };
}

async function fetchContent(
  state: BundleState,
  dependencies: Omit<UnpackDependencies, 'memory'> & OwnMemory,
  context: StepContext,
): Promise<SourceResult> {
  const { sources, secrets, configMaps, limits, creatorOf } = dependencies;
  const wanted = wantedSource(state.bundle, sources);
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(
      `source type "${wanted.type}" not supported${otherTypes(wanted, sources)}`,
    );
  }
  return withTimeLimit(
    async (signal, countdown) => {
      state.digest = await pinToUnpack(state.bundle, dependencies, signal);
      const { name, uid } = storedContentKey(state.bundle);
      const given: InTurn<SourceContext> = {
        bundle: { name, uid },
        signal,
        turn: { creator: creatorOf(state.bundle), countdown },
        logger: context.logger,
        limits,
        secrets: secrets.of(state.bundle),
        configMaps,
        memory: contentMemory(dependencies, { countdown, signal }),
      };
      const result = await source.fetch(wanted, given);
      checkPinned(state.bundle, result.resolvedSource, sources);
      return result;
    },
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

/** A third party's type may be misspelt, or served by another process. */
function otherTypes({ parameters }: BundleSource, sources: UnpackDependencies['sources']): string {
  if (parameters === undefined) return '';
  return `: this process serves ${[...sources.keys()].toSorted().join(', ')}`;
}

/** The bytes of all files. */
export function bytesOf({ files }: BundleFiles): number {
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  return bytes;
}

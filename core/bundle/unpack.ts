import { WaitingError } from '../errors.ts';
import type { UnpackMetrics } from '../platform/observe/index.ts';
import { convert } from './convert.ts';
import {
  type BundleState,
  type StepContext,
  type StepOutcome,
  storedContentKey,
  type UnpackDependencies,
} from './dependencies.ts';
import { awaitSlot, bytesOf, fetch } from './fetch/fetch.ts';
import { resolvedPin } from './fetch/pin.ts';
import { notUnpacked, unpacked } from './status.ts';

type Step = (
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
) => Promise<StepOutcome>;

const phases: Readonly<Record<string, Step>> = { fetch, convert, persist };

/**
 * Fetches, converts and stores a Bundle's content. The state's status has the result, which the
 * caller must write.
 */
export async function unpack(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<void> {
  try {
    await checkRoom(state, dependencies);
    await awaitSlot(state, dependencies, context);
    const run = () => runPhases(state, dependencies, context);
    await measureUnpack(state, dependencies, { run, signal: context.signal });
  } finally {
    state.ownFetch?.giveUp();
    state.slot?.release();
    // Release it before the status is written, which may take a while.
    state.fetched?.memory.release();
    state.resultMemory?.release();
    delete state.fetched;
    delete state.converted;
  }
}

/** At each retry: a fetch that ends without room would cost its source and core as much as the first. */
async function checkRoom(state: BundleState, { store, clock }: UnpackDependencies): Promise<void> {
  try {
    await store.checkRoom(storedContentKey(state.bundle));
  } catch (error) {
    state.status = notUnpacked(state.status, { error, prefix: persistPrefix }, clock);
    throw error;
  }
}

async function runPhases(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<void> {
  for (const [phase, step] of Object.entries(phases)) {
    if (phase === 'fetch' && state.fetched !== undefined) continue;
    const run = () => step(state, dependencies, context);
    if ((await measurePhase(state, dependencies, { phase, run })) === 'done') return;
  }
}

const persistPrefix = 'persist bundle content: ';

/** Stores the converted content and records its URL. */
async function persist(state: BundleState, dependencies: UnpackDependencies): Promise<StepOutcome> {
  const { store, clock, sources } = dependencies;
  const { fetched, converted } = state;
  if (fetched === undefined || converted === undefined) return 'done';
  await state.confirm?.();
  const { bundle, digest } = state;
  const noted = storedContentKey(bundle);
  const found = digest ?? resolvedPin(sources, fetched.resolvedSource, bundle.spec.source);
  const key = { ...noted, pin: found ?? noted.pin };
  let prefix = persistPrefix;
  try {
    await store.put(key, converted);
    prefix = 'get content URL: ';
    const contentURL = store.contentURL(key.name);
    state.status = unpacked(state.status, { source: fetched.resolvedSource, contentURL }, clock);
    return 'continue';
  } catch (error) {
    state.status = notUnpacked(state.status, { error, prefix }, clock);
    throw error;
  }
}

type Measured = Pick<UnpackDependencies, 'clock' | 'sources' | 'unpackMetrics'>;

/** Measures an unpacking with its slot; an aborted one says nothing about its source. */
async function measureUnpack(
  state: BundleState,
  { clock, sources, unpackMetrics }: Measured,
  { run, signal }: { readonly run: () => Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const source = sourceLabel(state, sources);
  const startedAt = clock.monotonic();
  const ended = (outcome: Parameters<UnpackMetrics['ended']>[1]): void =>
    unpackMetrics?.ended(source, outcome, (clock.monotonic() - startedAt) / 1000);
  try {
    await run();
  } catch (error) {
    if (!signal.aborted) ended(error instanceof WaitingError ? 'waiting' : 'failed');
    throw error;
  }
  ended('unpacked');
}

/** Runs one step of an unpacking, and measures its time and bytes. */
async function measurePhase<T>(
  state: BundleState,
  { clock, sources, unpackMetrics }: Measured,
  { phase, run }: { readonly phase: string; readonly run: () => Promise<T> },
): Promise<T> {
  const source = sourceLabel(state, sources);
  const startedAt = clock.monotonic();
  try {
    return await run();
  } finally {
    unpackMetrics?.phaseEnded(source, phase, (clock.monotonic() - startedAt) / 1000);
    const isOwn = phase === 'fetch' && state.ownFetch !== undefined;
    if (isOwn) {
      const { fetched } = state;
      unpackMetrics?.fetched(source, fetched === undefined ? 0 : bytesOf(fetched.files));
    }
  }
}

/** Labels of types that no process serves would be unlimited. */
function sourceLabel({ bundle }: BundleState, sources: Measured['sources']): string {
  const { type } = bundle.spec.source;
  return sources.has(type) ? type : 'other';
}

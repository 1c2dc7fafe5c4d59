import { WaitingError } from '../errors.ts';
import type { UnpackMetrics } from '../platform/observe/index.ts';
import type { UnpackDependencies } from './dependencies.ts';
import type { BundleState } from './state.ts';

type Measured = Pick<UnpackDependencies, 'clock' | 'sources' | 'unpackMetrics'>;

/** Runs an unpacking that has its slot; one that was aborted says nothing about its source. */
export async function measureUnpack(
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

/** Runs one step of an unpacking, and counts what has come with it. */
export async function measurePhase<T>(
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
    if (phase === 'fetch') unpackMetrics?.fetched(source, fetchedBytes(state));
  }
}

/** Types that nobody serves are as many as users can think of. */
function sourceLabel({ bundle }: BundleState, sources: Measured['sources']): string {
  const { type } = bundle.spec.source;
  return sources.has(type) ? type : 'other';
}

function fetchedBytes({ fetched }: BundleState): number {
  let bytes = 0;
  for (const content of fetched?.files.files.values() ?? []) bytes += content.length;
  return bytes;
}

import type { UnpackDependencies } from './dependencies.ts';
import { measurePhase, measureUnpack } from './measure-unpack.ts';
import type { BundleState, StepContext, StepOutcome } from './state.ts';
import { awaitSlot } from './steps/await-slot.ts';
import { convert } from './steps/convert.ts';
import { fetch } from './steps/fetch.ts';
import { joinFetch } from './steps/join-fetch.ts';
import { persist } from './steps/persist.ts';

type Step = (
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
) => Promise<StepOutcome>;

const phases: Readonly<Record<string, Step>> = { fetch, convert, persist };

/**
 * Brings a Bundle's content from its source into the store. The state's status tells how it went,
 * and is the caller's to write.
 */
export async function unpack(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<void> {
  try {
    await joinFetch(state, dependencies, context);
    await awaitSlot(state, dependencies, context);
    const run = () => runPhases(state, dependencies, context);
    await measureUnpack(state, dependencies, { run, signal: context.signal });
  } finally {
    state.ownFetch?.giveUp();
    state.slot?.release();
    // The status is yet to be written: content is not to be held for so long.
    state.fetched?.memory.release();
    delete state.fetched;
    delete state.converted;
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

import type { UnpackDependencies } from './dependencies.ts';
import type { BundleState, StepContext, StepOutcome } from './state.ts';
import { awaitSlot } from './steps/await-slot.ts';
import { convert } from './steps/convert.ts';
import { fetch } from './steps/fetch.ts';
import { persist } from './steps/persist.ts';

type Step = (
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
) => Promise<StepOutcome>;

const steps: readonly Step[] = [awaitSlot, fetch, convert, persist];

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
    for (const step of steps) {
      if ((await step(state, dependencies, context)) === 'done') return;
    }
  } finally {
    state.slot?.release();
    // The status is yet to be written: content is not to be held for so long.
    delete state.fetched;
    delete state.converted;
  }
}

import { storedContentKey } from '../content-key.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import type { BundleState, StepOutcome } from '../state.ts';
import { notUnpacked, unpacked } from '../status.ts';

/** Stores the converted content and says where it is. */
export async function persist(
  state: BundleState,
  dependencies: UnpackDependencies,
): Promise<StepOutcome> {
  const { store, clock } = dependencies;
  const { bundle, fetched, converted } = state;
  if (fetched === undefined || converted === undefined) return 'done';
  const key = storedContentKey(bundle);
  let prefix = 'persist bundle content: ';
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

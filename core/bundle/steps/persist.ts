import { storedContentKey } from '../content-key.ts';
import type { BundleDependencies } from '../dependencies.ts';
import type { BundleState, StepOutcome } from '../state.ts';
import { notUnpacked, unpacked } from '../status.ts';

/** Stores the converted content and says where it is. */
export async function persist(
  state: BundleState,
  dependencies: BundleDependencies,
): Promise<StepOutcome> {
  const { store, clock } = dependencies;
  const { bundle, fetched, converted } = state;
  if (fetched === undefined || converted === undefined) return 'done';
  const key = storedContentKey(bundle);
  try {
    await store.put(key, converted);
  } catch (error) {
    const failure = { error, prefix: 'persist bundle content: ' };
    state.status = notUnpacked(state.status, failure, clock);
    throw error;
  }
  const contentURL = store.contentURL(key.name);
  state.status = unpacked(state.status, { source: fetched.resolvedSource, contentURL }, clock);
  return 'continue';
}

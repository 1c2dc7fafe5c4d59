import { bundleCondition } from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../runtime/conditions.ts';
import { storedContentKey } from '../content-key.ts';
import type { BundleDependencies } from '../dependencies.ts';
import type { BundleState, StepOutcome } from '../state.ts';

/** A Bundle is unpacked once: nothing is left to do while its content is still stored. */
export async function reuse(
  state: BundleState,
  dependencies: BundleDependencies,
): Promise<StepOutcome> {
  const { bundle, status } = state;
  const { store } = dependencies;
  const unpacked = findCondition(status.conditions, bundleCondition.unpacked)?.status === 'True';
  const key = storedContentKey(bundle);
  if (!unpacked || status.phase !== 'Unpacked') return 'continue';
  if (!(await store.has(key))) return 'continue';
  // The address may be another one than when the content was stored.
  state.status = { ...status, contentURL: store.contentURL(key.name) };
  return 'done';
}

import type { ObjectMeta } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { isConflict } from '../../platform/kube/index.ts';
import { addFinalizer, removeFinalizer } from '../../platform/runtime/index.ts';
import { storedContentKey } from '../content-key.ts';
import type { BundleDependencies } from '../dependencies.ts';
import { unresolvedNote, withKnownPin } from '../known-pin.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { finalizerFailed } from '../status.ts';

/** Keeps the finalizer on a living Bundle; removes the cached content of a deleted one. */
export async function finalize(
  state: BundleState,
  dependencies: BundleDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deletionTimestamp, finalizers = [] } = state.bundle.metadata;
  const deleting = deletionTimestamp !== undefined;
  const outcome = deleting ? 'done' : 'continue';
  if (deleting !== finalizers.includes(finalizer.deleteCachedBundle)) return outcome;
  try {
    if (deleting) await deleteContent(state.bundle, dependencies, context);
    const change = deleting ? removeFinalizer : addFinalizer;
    await changeFinalizer(change, state, { dependencies, context });
    return outcome;
  } catch (error) {
    // Somebody else changed the Bundle meanwhile: no news for its status.
    if (isConflict(error)) throw error;
    state.status = finalizerFailed(
      state.status,
      { error, finalizer: finalizer.deleteCachedBundle },
      dependencies.clock,
    );
    throw error;
  }
}

async function deleteContent(
  bundle: Bundle,
  { release, uploads }: BundleDependencies,
  { signal }: StepContext,
): Promise<void> {
  await release(bundle);
  if (bundle.spec.source.type !== 'upload') return;
  await uploads?.delete(storedContentKey(bundle), signal);
}

async function changeFinalizer(
  change: typeof addFinalizer,
  state: BundleState,
  { dependencies, context }: { dependencies: BundleDependencies; context: StepContext },
): Promise<void> {
  const { client, cache } = dependencies;
  const metadata = withNote(state.bundle, dependencies);
  const target = { client, resource: bundleResource, metadata, signal: context.signal };
  const written = await change(target, state.bundle, finalizer.deleteCachedBundle);
  if (written === undefined) return;
  state.bundle = written as Bundle;
  // What was written into the status before core first saw the Bundle counts no longer.
  const { observedGeneration = 0 } = state.status;
  state.status = { ...withKnownPin(state.bundle, dependencies.sources), observedGeneration };
  cache.upsertIfNewer(state.bundle);
}

/** Nobody has unpacked a Bundle that has no finalizer yet. */
function withNote(
  { metadata, spec }: Bundle,
  { sources }: BundleDependencies,
): Pick<ObjectMeta, 'annotations'> {
  const annotations = unresolvedNote(spec.source, sources);
  const isNew = metadata.annotations?.[annotation.pin] === undefined;
  const isNoted = isNew && metadata.deletionTimestamp === undefined && annotations !== undefined;
  return isNoted ? { annotations } : {};
}

import type { ObjectMeta } from '../../api/meta.ts';
import type { Bundle, BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { bundleCondition } from '../../api/v1alpha1/conditions.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { isConflict } from '../platform/kube/index.ts';
import { addFinalizer, findCondition, removeFinalizer } from '../platform/runtime/index.ts';
import {
  type BundleDependencies,
  type BundleState,
  type StepContext,
  type StepOutcome,
  storedContentKey,
} from './dependencies.ts';
import {
  isDigested,
  isNoted,
  pinIn,
  resolvedPin,
  type SourceTypes,
  unresolvedNote,
  withKnownPin,
  withPin,
} from './fetch/pin.ts';
import { pinOfUpload } from './fetch/stored-upload.ts';
import { finalizerFailed, notUnpacked, stillUnpacked, unpacked } from './status.ts';

/** Keeps the finalizer on an existing Bundle; deletes the cached content of a deleted one. */
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
    // Somebody else changed the Bundle meanwhile: not an error for its status.
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
  const metadata = withEmptyNote(state.bundle, dependencies);
  const target = { client, resource: bundleResource, metadata, signal: context.signal };
  const written = await change(target, state.bundle, finalizer.deleteCachedBundle);
  if (written === undefined) return;
  state.bundle = written as Bundle;
  // A status from before core first reconciled the Bundle does not count.
  const { observedGeneration = 0 } = state.status;
  state.status = { ...withKnownPin(state.bundle, dependencies.sources), observedGeneration };
  cache.upsertIfNewer(state.bundle);
}

/** A Bundle without finalizer has never been unpacked. */
function withEmptyNote(
  { metadata, spec }: Bundle,
  { sources }: BundleDependencies,
): Pick<ObjectMeta, 'annotations'> {
  const annotations = unresolvedNote(spec.source, sources);
  const isNew = metadata.annotations?.[annotation.pin] === undefined;
  const needsNote = isNew && metadata.deletionTimestamp === undefined && annotations !== undefined;
  return needsNote ? { annotations } : {};
}

/**
 * Writes the pin annotation: before the status reports the content, and at once for a status of a
 * version without annotations.
 */
export async function notePin(
  state: BundleState,
  dependencies: Pick<BundleDependencies, 'client' | 'cache' | 'clock' | 'sources'>,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { metadata, status: before = {} } = state.bundle;
  const pin = pinToNote(state, dependencies);
  if (pin === undefined || metadata.annotations?.[annotation.pin] === pin) return 'continue';
  try {
    await writeNote(pin, state, { ...dependencies, signal });
    return 'continue';
  } catch (error) {
    // Content without the annotation must not be offered; content offered before stays so.
    const prefix = `note the content in annotation ${annotation.pin}: `;
    const isNews = before.phase !== 'Unpacked' && !isConflict(error);
    state.status = isNews ? notUnpacked(before, { error, prefix }, dependencies.clock) : before;
    throw error;
  }
}

function pinToNote(
  { bundle: { spec }, status, digest }: BundleState,
  { sources }: Pick<BundleDependencies, 'sources'>,
): string | undefined {
  return digest ?? resolvedPin(sources, status.resolvedSource, spec.source);
}

async function writeNote(
  pin: string,
  state: BundleState,
  {
    client,
    cache,
    signal,
  }: Pick<BundleDependencies, 'client' | 'cache'> & { readonly signal: AbortSignal },
): Promise<void> {
  const { name = '', uid, resourceVersion } = state.bundle.metadata;
  // Another upload may arrive meanwhile: it changes the Bundle.
  const unchanged = state.bundle.spec.source.type === 'upload' ? { resourceVersion } : {};
  const patch = { metadata: { uid, ...unchanged, annotations: { [annotation.pin]: pin } } };
  const target = { resource: bundleResource, key: { name } };
  state.bundle = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  cache.upsertIfNewer(state.bundle);
}

/**
 * A Bundle is unpacked once: while its content is stored, there is nothing to do, whatever its
 * status says. Corrects the status.
 */
export async function reuse(
  state: BundleState,
  dependencies: BundleDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { bundle, status } = state;
  const { store, takeBack, clock, sources } = dependencies;
  const key = storedContentKey(bundle);
  const source = storedSource(state, sources);
  if (source === undefined) return 'continue';
  if (!(await store.has(key)) && !(await takeBack(key))) return 'continue';
  // The address may have changed since the content was stored.
  const contentURL = store.contentURL(key.name);
  state.status = saysUnpacked(status)
    ? stillUnpacked(status, contentURL, clock)
    : unpacked(status, { source, contentURL }, clock);
  if (bundle.spec.source.type === 'upload' && isOlder(bundle)) {
    // No other bytes were accepted since it was unpacked.
    state.digest = await pinOfUpload(bundle, dependencies, context.signal);
    await notePin(state, dependencies, context);
  }
  return 'done';
}

/** The source of the stored content; undefined when there may be other content to fetch. */
function storedSource(
  { bundle, status }: BundleState,
  sources: SourceTypes,
): BundleSource | undefined {
  const { source } = bundle.spec;
  if (isNoted(source, sources)) {
    const { resolvedSource } = status;
    return pinIn(sources, resolvedSource, source) === undefined ? undefined : resolvedSource;
  }
  const pin = pinIn(sources, source, source);
  if (pin !== undefined) return withPin(sources, source, pin);
  return isSameLater({ bundle, status }, sources) ? source : undefined;
}

/** Whether stored content that the spec does not name is what fetching again would return. */
function isSameLater(
  { bundle, status }: Pick<BundleState, 'bundle' | 'status'>,
  sources: SourceTypes,
): boolean {
  const { source } = bundle.spec;
  const isByDigest = isDigested(source, sources);
  if ((isByDigest || source.type === 'upload') && !isOlder(bundle)) {
    // Empty when core ended before it noted the digest.
    return bundle.metadata.annotations?.[annotation.pin] !== '';
  }
  return isByDigest || saysUnpacked(status);
}

/** Whether an earlier version of core reconciled the Bundle first: it recorded no digest. */
function isOlder({ metadata }: Bundle): boolean {
  return metadata.annotations?.[annotation.pin] === undefined;
}

function saysUnpacked(status: BundleStatus): boolean {
  const condition = findCondition(status.conditions, bundleCondition.unpacked);
  return condition?.status === 'True' && status.phase === 'Unpacked';
}

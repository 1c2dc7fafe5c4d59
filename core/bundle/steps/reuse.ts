import type { BundleSource, BundleStatus } from '../../../api/v1alpha1/bundle.ts';
import { bundleCondition } from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { storedContentKey } from '../content-key.ts';
import type { BundleDependencies } from '../dependencies.ts';
import { isNoted } from '../known-pin.ts';
import { pinIn, type SourceTypes, withPin } from '../pin.ts';
import type { BundleState, StepOutcome } from '../state.ts';
import { stillUnpacked, unpacked } from '../status.ts';

/**
 * A Bundle is unpacked once: nothing is left to do while its content is still stored, whatever its
 * status says. That is put right.
 */
export async function reuse(
  state: BundleState,
  { store, clock, sources }: BundleDependencies,
): Promise<StepOutcome> {
  const { bundle, status } = state;
  const key = storedContentKey(bundle);
  const source = storedSource(state, sources);
  if (source === undefined || !(await store.has(key))) return 'continue';
  // The address may be another one than when the content was stored.
  const contentURL = store.contentURL(key.name);
  state.status = saysUnpacked(status)
    ? stillUnpacked(status, contentURL, clock)
    : unpacked(status, { source, contentURL }, clock);
  return 'done';
}

/** What stored content is from; undefined where there may be other content to fetch. */
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
  // Of an upload only its status says whether there is another one since.
  return source.type === 'configMaps' || saysUnpacked(status) ? source : undefined;
}

function saysUnpacked(status: BundleStatus): boolean {
  const condition = findCondition(status.conditions, bundleCondition.unpacked);
  return condition?.status === 'True' && status.phase === 'Unpacked';
}

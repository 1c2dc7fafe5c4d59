import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { isConflict } from '../../platform/kube/index.ts';
import type { BundleDependencies } from '../dependencies.ts';
import { isNoted } from '../known-pin.ts';
import { pinIn } from '../pin.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { notUnpacked } from '../status.ts';

/**
 * Notes which content the Bundle has: before its status tells of that, and at once where a status
 * from before there were notes does.
 */
export async function notePin(
  state: BundleState,
  dependencies: Pick<BundleDependencies, 'client' | 'cache' | 'clock' | 'sources'>,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { metadata, spec, status: before = {} } = state.bundle;
  const { sources } = dependencies;
  const pin = pinIn(sources, state.status.resolvedSource, spec.source);
  if (pin === undefined || !isNoted(spec.source, sources)) return 'continue';
  if (metadata.annotations?.[annotation.pin] === pin) return 'continue';
  try {
    await write(pin, state, { ...dependencies, signal });
    return 'continue';
  } catch (error) {
    // Nothing is offered that has no note; what was offered before stays so.
    const prefix = `note the content in annotation ${annotation.pin}: `;
    const isNews = before.phase !== 'Unpacked' && !isConflict(error);
    state.status = isNews ? notUnpacked(before, { error, prefix }, dependencies.clock) : before;
    throw error;
  }
}

async function write(
  pin: string,
  state: BundleState,
  {
    client,
    cache,
    signal,
  }: Pick<BundleDependencies, 'client' | 'cache'> & { readonly signal: AbortSignal },
): Promise<void> {
  const { name = '', uid } = state.bundle.metadata;
  const patch = { metadata: { uid, annotations: { [annotation.pin]: pin } } };
  const target = { resource: bundleResource, key: { name } };
  state.bundle = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  cache.upsertIfNewer(state.bundle);
}

import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { storedContentKey } from '../content-key.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import { isPinOf } from '../pin.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { notUnpacked } from '../status.ts';

/** Gets the content from its source: from where it was pinned to, once it has been resolved. */
export async function fetch(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { slot } = state;
  if (slot === undefined) return 'done';
  try {
    const fetching = () => fetchContent(state, dependencies, context);
    state.fetched = await slot.fetch(fetching, context.signal);
    return 'continue';
  } catch (error) {
    const failure = { error, prefix: 'source bundle content: ' };
    state.status = notUnpacked(state.status, failure, dependencies.clock);
    throw error;
  }
}

async function fetchContent(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<SourceResult> {
  const { sources, secrets, configMaps, limits } = dependencies;
  const wanted = wantedSource(state.bundle);
  const source = sources.get(wanted.type);
  if (source === undefined) {
    throw new TerminalError(`source type "${wanted.type}" not supported`);
  }
  return withTimeLimit(
    (signal) =>
      source.fetch(wanted, {
        bundle: storedContentKey(state.bundle),
        signal,
        logger: context.logger,
        limits,
        secrets,
        configMaps,
      }),
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

/**
 * The spec, at what it is pinned to. Nothing else is taken from the pin: RukPak's pins of images have
 * lost their pull secret, and whoever may write a status is not to say where credentials go.
 */
function wantedSource({ spec: { source }, status }: Bundle): BundleSource {
  const pin = status?.resolvedSource;
  const { image, git, http } = source;
  if (pin === undefined || !isPinOf(pin, source)) return source;
  if (image !== undefined) return { ...source, image: { ...image, ...pick(pin.image) } };
  if (git !== undefined) return { ...source, git: { ...git, ...pick(pin.git) } };
  const { checksum } = pin.http ?? {};
  return http === undefined || checksum === undefined
    ? source
    : { ...source, http: { ...http, checksum } };
}

function pick<T extends { readonly ref: unknown }>(
  pinned: T | undefined,
): Pick<T, 'ref'> | undefined {
  return pinned && { ref: pinned.ref };
}

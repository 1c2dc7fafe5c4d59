import { handlerOf, nameClass } from '../classes/index.ts';
import { checkFiles } from '../content/index.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { withTimeLimit } from '../platform/runtime/index.ts';
import type { BundleState, StepContext, StepOutcome, UnpackDependencies } from './dependencies.ts';
import { bytesOf } from './fetch/fetch.ts';
import { contentDigest } from './fetch/pin.ts';
import type { FetchedContent } from './fetch/shared-fetches.ts';
import { fetchFailed, notUnpacked } from './status.ts';

/** The Bundle's class checks and converts the fetched content. */
export async function convert(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { provisioners, limits, clock, creatorOf } = dependencies;
  const { bundle, fetched } = state;
  const provisioner = provisioners.get(bundle.spec.provisionerClassName);
  const handler = provisioner?.bundle;
  if (provisioner === undefined || handler === undefined || fetched === undefined) return 'done';
  identify(state, fetched, dependencies);
  const { logger } = context;
  const received = countResult(state, fetched.files, dependencies);
  state.doing = `${handlerOf(provisioner, 'bundle')} is at work on it`;
  try {
    state.converted = await withTimeLimit(
      (signal, countdown) => {
        const turn = { creator: creatorOf(bundle), countdown, received };
        const given = { signal, logger, limits, turn };
        const run = () => handler(fetched.files, bundle, given);
        return nameClass(provisioner, 'bundle', run);
      },
      {
        limit: limits.timeout,
        grace: limits.timeout / 20,
        signal: context.signal,
        by: () => handlerOf(provisioner, 'bundle'),
      },
    );
    if (state.converted !== fetched.files) {
      checkFiles(state.converted, limits);
      received(bytesOf(state.converted));
    }
    return 'continue';
  } catch (error) {
    state.status = notUnpacked(state.status, { error, prefix: '' }, clock);
    throw error;
  }
}

/** Notes the digest of files that have no other identity, and refuses other ones. */
function identify(
  state: BundleState,
  { files }: Pick<FetchedContent, 'files'>,
  { sources, clock }: Pick<UnpackDependencies, 'sources' | 'clock'>,
): void {
  try {
    state.digest ??= contentDigest(state.bundle, files, sources);
  } catch (error) {
    state.status = fetchFailed(state.status, error, clock);
    throw error;
  }
}

/**
 * Counts the result of the class as it arrives. The memory of an own fetch is enough for a result of
 * the size of its input; what is larger makes fetches end or wait. The result itself is never ended,
 * so that the content that occupies the memory gets stored.
 */
function countResult(
  state: BundleState,
  files: BundleFiles,
  { memory }: Pick<UnpackDependencies, 'memory'>,
): (bytes: number) => void {
  const counted = state.ownFetch === undefined ? 0 : bytesOf(files);
  const share = memory.open({ kind: 'work' });
  state.resultMemory = share;
  return (bytes) => share.set(Math.max(bytes - counted, 0));
}

import { checkFiles } from '../../content/check-files.ts';
import { onBehalfOf } from '../../runtime/on-behalf-of.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { UnpackDependencies } from '../dependencies.ts';
import type { BundleState, StepContext, StepOutcome } from '../state.ts';
import { notUnpacked } from '../status.ts';

/** Lets the Bundle's class check and convert what was fetched. */
export async function convert(
  state: BundleState,
  dependencies: UnpackDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { provisioners, limits, clock, creatorOf } = dependencies;
  const { bundle, fetched } = state;
  const { logger } = context;
  const handler = provisioners.get(bundle.spec.provisionerClassName)?.bundle;
  if (handler === undefined || fetched === undefined) return 'done';
  try {
    state.converted = await withTimeLimit(
      (limit) => {
        const signal = onBehalfOf(creatorOf(bundle), limit);
        return handler(fetched.files, bundle, { signal, logger, limits });
      },
      { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
    );
    if (state.converted !== fetched.files) checkFiles(state.converted, limits);
    return 'continue';
  } catch (error) {
    state.status = notUnpacked(state.status, { error, prefix: '' }, clock);
    throw error;
  }
}

import { handlerOf, nameClass } from '../../classes/index.ts';
import { checkFiles } from '../../content/index.ts';
import { withTimeLimit } from '../../platform/runtime/index.ts';
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
  const provisioner = provisioners.get(bundle.spec.provisionerClassName);
  const handler = provisioner?.bundle;
  if (provisioner === undefined || handler === undefined || fetched === undefined) return 'done';
  state.doing = `${handlerOf(provisioner, 'bundle')} is at work on it`;
  try {
    state.converted = await withTimeLimit(
      (signal, countdown) => {
        const turn = { creator: creatorOf(bundle), countdown };
        const given = { signal, logger, limits, turn };
        const run = () => handler(fetched.files, bundle, given);
        return nameClass(provisioner, 'bundle', run);
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

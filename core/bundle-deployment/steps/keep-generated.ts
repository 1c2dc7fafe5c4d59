import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { shortList } from '../../short-list.ts';
import { annotate } from '../annotate.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { generatedObjects, overwrittenSecrets } from '../generated-values.ts';
import { longestWait } from '../longest-wait.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { notInstalled } from '../status.ts';
import { loadLastApplied } from './load-last-applied.ts';

const namedObjects = 5;

/**
 * Blocks a deployment whose generated values would change, because Secret rukpak-seed was lost or
 * replaced, or because Secrets exist that were generated with another one. What is installed is
 * kept in place. The seed is remembered on the BundleDeployment: a restore may lose its status.
 */
export async function keepGenerated(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const identity = state.recipe?.facts.seedIdentity;
  if (identity === undefined || state.kept === true) return 'continue';
  const { annotations = {} } = state.deployment.metadata;
  const remembered = annotations[annotation.seed] ?? state.status.applied?.seed;
  if (remembered === identity) return 'continue';
  const surroundings = { dependencies, context };
  const isAccepted = annotations[annotation.acceptNewSeed] === identity;
  const changed = isAccepted ? [] : await changedValues(state, remembered, surroundings);
  if (changed.length > 0) {
    const message = messageOf(state.deployment, { changed, identity, remembered }, dependencies);
    return await hold(state, message, surroundings);
  }
  const { signal } = context;
  await annotate(state, { [annotation.seed]: identity }, { dependencies, signal });
  return 'continue';
}

interface Surroundings {
  readonly dependencies: ReconcileDependencies;
  readonly context: StepContext;
}

async function changedValues(
  state: BundleDeploymentState,
  remembered: string | undefined,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  return remembered === undefined
    ? await overwrittenSecrets(state, surroundings)
    : await generatedObjects(state, surroundings);
}

async function hold(
  state: BundleDeploymentState,
  message: string,
  { dependencies, context }: Surroundings,
): Promise<StepOutcome> {
  const { clock, reportHealth, facts } = dependencies;
  const reason = progressReason.seedChanged;
  state.holdUp = { reason, message };
  // Nobody tells when the Secret is restored.
  facts.renew();
  context.wakeAfter(longestWait);
  if ((state.status.activeBundle ?? '') === '') {
    state.status = notInstalled(state.status, { reason, message, reportHealth }, clock);
    return 'done';
  }
  return (await loadLastApplied(state, dependencies, context)) ? 'continue' : 'done';
}

interface ChangedValues {
  readonly changed: readonly string[];
  readonly identity: string;
  readonly remembered: string | undefined;
}

function messageOf(
  { metadata: { name } }: BundleDeployment,
  { changed, identity, remembered }: ChangedValues,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
): string {
  const objects = shortList(changed, namedObjects);
  const seed = `Secret "rukpak-seed" in namespace "${systemNamespace}"`;
  const what =
    remembered === undefined
      ? `${objects} of BundleDeployment "${name}" exist with other generated values than the present seed gives, and core does not overwrite them`
      : `${seed} has seed ${identity}, and BundleDeployment "${name}" was rendered with seed ${remembered}: core does not change the generated values of ${objects}`;
  return (
    `${what}. Restore ${remembered === undefined ? `the ${seed}` : 'that Secret'} from a backup, or accept new values: ` +
    `kubectl annotate --overwrite bundledeployment ${name} ${annotation.acceptNewSeed}=${identity}`
  );
}

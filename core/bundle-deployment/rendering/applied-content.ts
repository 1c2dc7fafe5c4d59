import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import type { AppliedStatus, WaitingDeletions } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { renderingOf } from '../../apply/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../phase.ts';
import type { Recipe } from './rendered-objects.ts';

type ContentIdentity = Pick<AppliedStatus, 'uid' | 'rendering' | 'inputs' | 'seed'>;

/** Everything that objects are rendered from, besides facts about the cluster. */
export function contentOf({ bundle, deployment, facts }: Recipe): ContentIdentity {
  const { inputsDigest: inputs, seedIdentity: seed } = facts;
  return {
    uid: bundle.metadata.uid ?? '',
    rendering: renderingOf(deployment.spec),
    ...(inputs !== undefined && { inputs }),
    ...(seed !== undefined && { seed }),
  };
}

export function isOther(applied: ContentIdentity, { bundle, deployment, facts }: Recipe): boolean {
  // Digests of inputs are keyed with the seed: those of another seed cannot be compared.
  const sameSeed = applied.seed === facts.seedIdentity;
  return (
    applied.uid !== bundle.metadata.uid ||
    applied.rendering !== renderingOf(deployment.spec) ||
    (sameSeed && applied.inputs !== facts.inputsDigest)
  );
}

/** Whether other content was completely applied last, or other content was begun since. */
export function wasReplaced(
  applied: ContentIdentity & Pick<AppliedStatus, 'superseded'>,
  recipe: Recipe,
): boolean {
  return applied.superseded === true || isOther(applied, recipe);
}

/** Deletions that wait since the same content was completely applied, with the facts of that time. */
export function waitingOf(
  { waitingDeletions: waiting }: BundleDeploymentStatus,
  recipe: Recipe,
): WaitingDeletions | undefined {
  return waiting === undefined || isOther(waiting, recipe) ? undefined : waiting;
}

/** An approval asks for the changes of its plan, until that is completely applied. */
export function carriesOutPlan({
  approved,
  kept,
  status,
}: Pick<BundleDeploymentState, 'approved' | 'kept' | 'status'>): boolean {
  const { plan, approval } = status;
  return approved === true && kept !== true && plan?.digest === approval?.digest;
}

/**
 * Whether the content differs from the one that was completely applied last. A config or an input
 * changes without another Bundle, and the new content may wait for something first. A status without
 * a record is of a version of core that kept none, or of a first roll-out whose deletions wait.
 */
export function isNewContent({
  deployment,
  recipe,
  ...state
}: Pick<BundleDeploymentState, 'deployment' | 'recipe' | 'approved' | 'kept' | 'status'>): boolean {
  if (recipe === undefined) return false;
  if (carriesOutPlan(state)) return true;
  const { status = {} } = deployment;
  const applied = waitingOf(status, recipe) ?? status.applied;
  if (applied === undefined) return status.waitingDeletions !== undefined;
  return wasReplaced(applied, recipe) || hasNewValues(applied, recipe, deployment);
}

/** Whether somebody has accepted generated values of another seed than the applied ones. */
function hasNewValues(
  { seed }: ContentIdentity,
  { facts: { seedIdentity } }: Recipe,
  { metadata: { annotations } }: BundleDeployment,
): boolean {
  const accepted = annotations?.[annotation.acceptNewSeed];
  return seed !== undefined && seed !== seedIdentity && seedIdentity === accepted;
}

type LoadedState = Pick<
  BundleDeploymentState,
  'deployment' | 'status' | 'target' | 'recipe' | 'kept' | 'approved'
>;

/** True when the same content of the same Bundle and spec was completely rolled out before. */
export function isUnchanged(state: LoadedState): boolean {
  const { deployment, target, kept } = state;
  const { metadata, status } = deployment;
  const { installed } = bundleDeploymentCondition;
  if (kept === true) return true;
  return (
    status?.activeBundle === target?.metadata.name &&
    status?.observedGeneration === metadata.generation &&
    findCondition(status?.conditions, installed)?.status === 'True' &&
    !isNewContent(state)
  );
}

/**
 * Whether stages wait until the one before is ready: when the spec asks for it and something new is
 * rolled out. Repairs do not wait, in this process or a later one, and neither does a rollback: a
 * later stage may have broken an earlier one.
 */
export function stagesWait(state: LoadedState): boolean {
  const { deployment, status, target } = state;
  if (deployment.spec.stages?.waitForReady !== true) return false;
  const isWayBack = target !== undefined && status.rollback?.to === target.metadata.name;
  return !isWayBack && !isUnchanged(state);
}

import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import { cycleText, dependencyCycle } from '../../../api/v1alpha1/dependency-cycle.ts';
import { findCondition } from '../../runtime/conditions.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { unreadiness } from '../dependency-readiness.ts';
import { holdUp } from '../hold-up.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

const shownDependencies = 3;

type Deployments = Pick<BundleDeploymentDependencies['deployments'], 'get'>;

/**
 * Brings a new Bundle out only when everything that the deployment depends on is installed and
 * healthy; their changes wake it. What is installed stays, whatever becomes of them.
 */
export async function awaitDependencies(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
): Promise<StepOutcome> {
  const { deployment, bundle, target } = state;
  const isNew = target === bundle && target?.metadata.name !== state.status.activeBundle;
  if (!isNew || hasBegun(deployment)) return 'continue';
  const waiting = reasonsToWait(deployment, dependencies);
  if (waiting.length === 0) return 'continue';
  const more = waiting.length - shownDependencies;
  const shown = waiting.slice(0, shownDependencies).join('; ');
  const message = `waiting for ${shown}${more > 0 ? `; and for ${more} more` : ''}`;
  return holdUp(state, dependencies, { reason: progressReason.waitingForDependencies, message });
}

/** What these say at the end of a reconcile means that it repaired the active Bundle. */
const notBegun: ReadonlySet<string | undefined> = new Set([
  progressReason.waitingForDependencies,
  progressReason.awaitingApproval,
  bundleDeploymentReason.unpackPending,
  bundleDeploymentReason.unpackFailed,
]);

const begun: ReadonlySet<string> = new Set([
  progressReason.waitingForStage,
  progressReason.waitingForHook,
  bundleDeploymentReason.upgradeFailed,
]);

/** Half of the new Bundle is there already: to go back now would only do harm. */
function hasBegun({ status, metadata }: BundleDeployment): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  const reasonOf = (type: string) => findCondition(status?.conditions, type)?.reason;
  const { installed, progressing, hasValidBundle } = bundleDeploymentCondition;
  if (notBegun.has(reasonOf(progressing)) || notBegun.has(reasonOf(hasValidBundle))) return false;
  const reason = reasonOf(installed);
  return reason !== undefined && begun.has(reason);
}

function reasonsToWait(
  deployment: BundleDeployment,
  {
    deployments,
    reportHealth,
  }: Pick<BundleDeploymentDependencies, 'reportHealth'> & {
    readonly deployments: Deployments;
  },
): readonly string[] {
  const names = new Set(deployment.spec.dependsOn?.map(({ name }) => name));
  return [...names].flatMap((name) => {
    const because =
      cycleBy(name, deployment, deployments) ??
      unreadiness(deployments.get({ name }), reportHealth);
    return because === undefined ? [] : [`BundleDeployment ${name} because ${because}`];
  });
}

/** Two changes at the same moment can make a cycle that admission did not see. */
function cycleBy(
  dependency: string,
  { metadata: { name = '' } }: BundleDeployment,
  deployments: Deployments,
): string | undefined {
  const cycle = dependencyCycle({ name, dependency }, (from) =>
    (deployments.get({ name: from })?.spec.dependsOn ?? []).map((each) => each.name),
  );
  if (cycle === undefined) return undefined;
  return `it waits for this one: ${cycleText(cycle)}; take one of them out of spec.dependsOn`;
}

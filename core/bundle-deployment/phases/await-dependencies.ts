import type { Condition } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  kstatusCondition,
  progressReason,
  bundleDeploymentCondition as type,
} from '../../../api/v1alpha1/conditions.ts';
import { cycleText, dependencyCycle } from '../../../api/v1alpha1/rules/dependency-cycle.ts';
import { hasAppliedSpec } from '../../apply/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { isRolledOut } from '../bundles.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found } from '../phase.ts';
import { hasBegun } from '../revisions/begun.ts';
import { block } from './choose-target.ts';

const shownDependencies = 3;

type Deployments = Pick<BundleDeploymentDependencies['deployments'], 'get'>;

/**
 * Rolls out a new Bundle only when all dependencies of the deployment are installed and healthy;
 * their changes wake it. The installed Bundle stays, even when they fail.
 */
export async function awaitDependencies(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Promise<Found> {
  const { deployment, bundle, target } = state;
  const isNew = target === bundle && target?.metadata.name !== state.status.activeBundle;
  if (target === undefined || !isNew || hasBegun(deployment, target, dependencies)) return {};
  const waiting = reasonsToWait(deployment, dependencies);
  if (waiting.length === 0) return {};
  const more = waiting.length - shownDependencies;
  const shown = waiting.slice(0, shownDependencies).join('; ');
  const message = `waiting for ${shown}${more > 0 ? `; and for ${more} more` : ''}`;
  return block(state, dependencies, { reason: progressReason.waitingForDependencies, message });
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

/** Two simultaneous changes can make a cycle that admission did not see. */
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

/** A dependency's message may quote one that quotes another: each quotes only so much. */
const shownLength = 300;

/**
 * Why dependents must wait for this deployment, as a clause; undefined when it is installed and
 * healthy for its present spec. Health counts only when it is reported.
 */
function unreadiness(
  deployment: BundleDeployment | undefined,
  reportHealth: boolean,
): string | undefined {
  if (deployment === undefined) return 'it does not exist';
  const { metadata, status = {} } = deployment;
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (status.observedGeneration !== metadata.generation) {
    return 'its last change is not reconciled yet';
  }
  return notInstalled(deployment) ?? notApplied(deployment) ?? notHealthy(deployment, reportHealth);
}

/** Some classes report no health, such as RukPak's helm class. */
function notHealthy({ status = {} }: BundleDeployment, reportHealth: boolean): string | undefined {
  if (!reportHealth) return undefined;
  const healthy = findCondition(status.conditions, type.healthy);
  return healthy === undefined || healthy.status === 'True' ? undefined : says(healthy);
}

function notInstalled(deployment: BundleDeployment): string | undefined {
  const installed = findCondition(deployment.status?.conditions, type.installed);
  if (installed?.status === 'True' && isRolledOut(deployment)) return undefined;
  return firstProblem(deployment, rollOutConditions) ?? 'its Bundle is not installed yet';
}

/** After an error of the API server, the other conditions may be those of the config before. */
function notApplied(deployment: BundleDeployment): string | undefined {
  if (hasAppliedSpec(deployment) !== false) return undefined;
  const conditions = [...rollOutConditions, kstatusCondition.ready];
  return firstProblem(deployment, conditions) ?? 'its last change is not applied yet';
}

const rollOutConditions = [type.progressing, type.installed, type.hasValidBundle];

function firstProblem(
  { status = {} }: BundleDeployment,
  types: readonly string[],
): string | undefined {
  const problem = types
    .map((each) => findCondition(status.conditions, each))
    .find((condition) => condition !== undefined && !isGood(condition));
  return problem === undefined ? undefined : says(problem);
}

function isGood({ type: about, status, message }: Condition): boolean {
  // While a Bundle is being unpacked, HasValidBundle is True already.
  const isWaiting = about === type.hasValidBundle && message.startsWith('Waiting');
  return status === 'True' && !isWaiting;
}

function says({ type: about, message }: Condition): string {
  const [line = ''] = message.split('\n');
  const shown = line.length > shownLength ? `${line.slice(0, shownLength)}…` : line;
  return `its ${about} condition says: ${shown}`;
}

import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { cycleText, dependencyCycle } from '../../../api/v1alpha1/dependency-cycle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { unreadiness } from '../dependency-readiness.ts';
import { hasBegun } from '../has-begun.ts';
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

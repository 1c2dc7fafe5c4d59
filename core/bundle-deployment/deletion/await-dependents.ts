import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { dependencyCycle } from '../../../api/v1alpha1/dependency-cycle.ts';
import { shortList } from '../../short-list.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

const shownDependents = 3;

/** Ends the reconcile while others depend on the deployment; the end of each wakes it. */
export async function awaitDependents(
  state: BundleDeploymentState,
  { deployments }: Pick<BundleDeploymentDependencies, 'deployments'>,
): Promise<StepOutcome> {
  const names = dependentsOf(state.deployment.metadata.name ?? '', deployments);
  if (names.length === 0) return 'continue';
  state.holdUp = { reason: progressReason.waitingForDependents, message: messageOf(names) };
  return 'done';
}

/** Those that wait for this one themselves do not count: nobody could go first. */
function dependentsOf(
  name: string,
  deployments: BundleDeploymentDependencies['deployments'],
): readonly string[] {
  const dependenciesOf = (from: string): readonly string[] =>
    (deployments.get({ name: from })?.spec.dependsOn ?? []).map((each) => each.name);
  return deployments
    .dependentsOf(name)
    .map(({ metadata }) => metadata.name ?? '')
    .filter((dependency) => !leadsTo({ name: dependency, dependency: name }, dependenciesOf))
    .toSorted();
}

/** Whether a dependency leads back to the deployment of that name. */
function leadsTo(...[edge, dependenciesOf]: Parameters<typeof dependencyCycle>): boolean {
  return dependencyCycle(edge, dependenciesOf) !== undefined;
}

function messageOf(names: readonly string[]): string {
  const shown = shortList(names, shownDependents);
  return names.length === 1
    ? `deletion waits for BundleDeployment ${shown}, which depends on it: delete it too, or take this one out of its spec.dependsOn`
    : `deletion waits for BundleDeployments ${shown}, which depend on it: delete them too, or take this one out of their spec.dependsOn`;
}

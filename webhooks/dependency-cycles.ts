import { isDeepStrictEqual } from 'node:util';
import { cycleText, dependencyCycle } from '../api/v1alpha1/dependency-cycle.ts';
import type { DeploymentCheck, ReviewedDeployment } from './bundle-deployment.ts';

/** Knows what the BundleDeployments depend on that there are. */
export interface DependencyReader {
  /** The names in `spec.dependsOn`; none for a deployment that does not exist. */
  dependenciesOf(name: string): readonly string[];
}

/** Refuses dependencies of which each would wait for the other, for ever. */
export function dependencyCycleCheck(deployments: DependencyReader): DeploymentCheck {
  return ({ deployment, old }) => {
    const { name = '' } = deployment.metadata;
    const dependencies = dependenciesIn(deployment);
    // A cycle that is there already must not keep other fields from being changed.
    if (isDeepStrictEqual(dependencies, old && dependenciesIn(old))) return undefined;
    for (const dependency of dependencies) {
      const cycle = dependencyCycle({ name, dependency }, (from) =>
        deployments.dependenciesOf(from),
      );
      if (cycle !== undefined) return `spec.dependsOn makes a cycle: ${cycleText(cycle)}`;
    }
    return undefined;
  };
}

function dependenciesIn({ spec }: ReviewedDeployment): readonly string[] {
  return spec.dependsOn?.map(({ name }) => name) ?? [];
}

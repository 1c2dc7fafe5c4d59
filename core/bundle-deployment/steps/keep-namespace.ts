import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/**
 * Blocks a deployment whose spec asks for another namespace than it is installed in: to move would
 * delete the data in the old one. What is installed is kept in place.
 */
export async function keepNamespace(
  state: BundleDeploymentState,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
): Promise<StepOutcome> {
  const { metadata, spec } = state.deployment;
  const asked = spec.installNamespace;
  const current = installNamespaceOf(state.deployment, systemNamespace);
  if (asked === undefined || asked === current) return 'continue';
  state.holdUp ??= {
    reason: progressReason.installNamespaceChanged,
    message:
      `BundleDeployment "${metadata.name}" is installed in namespace "${current}", and core does not move it to "${asked}": ` +
      `set spec.installNamespace to "${current}". To install in "${asked}", create another BundleDeployment`,
  };
  return 'continue';
}

import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import { applySetKey } from '../../apply/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { withNewStart } from '../revisions/progress.ts';
import { checkHealth } from './check-health.ts';

/**
 * Guards what core has applied already, where the finalizer was lost, as by a backup that left it out.
 * Before all else: the deployment may be deleted while its Bundle is slow or broken. What RukPak
 * installed goes by its ownerReferences until core has applied it: no mark says of which kinds it is.
 * The first time the applier adds the finalizer, with the marks.
 */
export async function guardDeletion(
  { deployment }: BundleDeploymentState,
  _dependencies: ReconcileDependencies,
  { live }: PhaseContext,
): Promise<Found> {
  if (deployment.metadata.labels?.[applySetKey.id] !== undefined) await live.guard();
  return {};
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}

/** Ends the reconcile of a paused deployment; the health of what is installed goes on being told. */
export async function pause(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment, status } = state;
  const { name = '' } = deployment.metadata;
  if (deployment.spec.paused !== true) {
    return isPaused(state) ? { status: withNewStart(status, dependencies.clock) } : {};
  }
  const blocked = {
    reason: progressReason.paused,
    message: `spec.paused is true: nothing in the cluster is changed for it; go on with "rukpakctl resume ${name}"`,
  };
  // A process that has not applied anything yet knows of no object whether it is healthy.
  if (!isInstalled(state) || !dependencies.applier.knows(name)) return { blocked, done: true };
  try {
    return { blocked, done: true, ...(await checkHealth(state, dependencies, context)) };
  } catch (error) {
    return { blocked, error };
  }
}

function isPaused({ status }: BundleDeploymentState): boolean {
  const { progressing } = bundleDeploymentCondition;
  return findCondition(status.conditions, progressing)?.reason === progressReason.paused;
}

function isInstalled({ status }: BundleDeploymentState): boolean {
  return findCondition(status.conditions, bundleDeploymentCondition.installed)?.status === 'True';
}

/**
 * Blocks a deployment whose spec asks for another namespace than it is installed in: to move would
 * delete the data in the old one. What is installed is kept in place.
 */
export async function keepNamespace(
  state: BundleDeploymentState,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
): Promise<Found> {
  const { metadata, spec } = state.deployment;
  const asked = spec.installNamespace;
  const current = installNamespaceOf(state.deployment, systemNamespace);
  if (asked === undefined || asked === current) return {};
  const blocked = {
    reason: progressReason.installNamespaceChanged,
    message:
      `BundleDeployment "${metadata.name}" is installed in namespace "${current}", and core does not move it to "${asked}": ` +
      `set spec.installNamespace to "${current}". To install in "${asked}", create another BundleDeployment`,
  };
  return { blocked: state.blocked ?? blocked };
}

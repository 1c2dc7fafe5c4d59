import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import {
  installNamespaceOf,
  unconfirmedNamespace,
} from '../../../api/v1alpha1/rules/install-namespace.ts';
import { withNote } from '../../../api/v1alpha1/rules/noted-value.ts';
import { applySetKey } from '../../apply/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { withNewStart } from '../revisions/progress.ts';
import { checkHealth } from './check-health.ts';

/**
 * Restores a lost finalizer of a deployment that core has applied: a backup may lack it, and
 * `kubectl replace` removes it with the label. Runs first, because the deployment may be deleted
 * while it is paused, or its Bundle is slow or broken. Objects of RukPak are deleted by their
 * ownerReferences until core has applied them, because no mark lists their kinds. The applier adds
 * the finalizer the first time, together with the marks.
 */
export async function guardDeletion(
  { deployment }: BundleDeploymentState,
  _dependencies: ReconcileDependencies,
  { live }: PhaseContext,
): Promise<Found> {
  const { metadata, status } = deployment;
  const isApplied =
    metadata.labels?.[applySetKey.id] !== undefined || status?.groupKinds !== undefined;
  if (isApplied) await live.guard();
  return {};
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}

/** Ends the reconcile of a paused deployment; core goes on reporting the health of its objects. */
export async function pause(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment, status } = state;
  const { name = '' } = deployment.metadata;
  if (deployment.spec.paused !== true) {
    return isPaused(state) ? { status: withNewStart(status, dependencies, context) } : {};
  }
  const blocked = {
    reason: progressReason.paused,
    message: `spec.paused is true: core changes nothing in the cluster for BundleDeployment "${name}". To continue, run "rukpakctl resume ${name}"`,
  };
  // A process that has not applied the objects yet does not know their health.
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
 * Blocks a deployment whose spec names another namespace than it is installed in: moving would
 * delete the data in the old one. Core keeps the installed objects in place. Ends the reconcile of
 * one of which only the status says that it is installed elsewhere: somebody may have forged that.
 */
export async function keepNamespace(
  state: BundleDeploymentState,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
): Promise<Found> {
  const { metadata, spec } = state.deployment;
  const asked = spec.installNamespace;
  const unconfirmed = unconfirmedNamespace(state.deployment, systemNamespace);
  if (unconfirmed !== undefined) {
    const { name = '' } = metadata;
    const message =
      `status.installNamespace of BundleDeployment "${name}" is "${unconfirmed}", but annotation ${annotation.installNamespace}, in which core records the namespace, is missing: ` +
      `set it to "${withNote(name, unconfirmed)}" if the objects are there, otherwise to "${withNote(name, asked ?? systemNamespace)}"`;
    return { blocked: { reason: progressReason.installNamespaceChanged, message }, done: true };
  }
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

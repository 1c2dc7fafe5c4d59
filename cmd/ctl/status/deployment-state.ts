import type { Condition } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';

/** A deployment's state in one word, and the sentence that explains it. */
interface DeploymentState {
  readonly state:
    | 'Healthy'
    | 'Installed'
    | 'Unhealthy'
    | 'NotInstalled'
    | 'NotObserved'
    | 'Deleting';
  readonly reason: string;
}

type StateRule = (deployment: BundleDeployment) => DeploymentState | undefined;

/** The first matching rule decides. */
const rules: readonly StateRule[] = [
  deleting,
  notObserved,
  upgradeFailed,
  notInstalled,
  upgradePending,
  unhealthy,
  heldUp,
];

/** The state to show in place of the conditions that `kubectl get` prints. */
export function deploymentState(deployment: BundleDeployment): DeploymentState {
  for (const rule of rules) {
    const state = rule(deployment);
    if (state !== undefined) return state;
  }
  const healthy = conditionOf(deployment, bundleDeploymentCondition.healthy);
  return { state: healthy === undefined ? 'Installed' : 'Healthy', reason: '' };
}

/** True when the present template is installed, and healthy if health is reported. */
export function isGood(deployment: BundleDeployment): boolean {
  const { state, reason } = deploymentState(deployment);
  return (state === 'Healthy' || state === 'Installed') && reason === '';
}

export function conditionOf(
  { status }: BundleDeployment,
  type: string,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

function deleting({ metadata }: BundleDeployment): DeploymentState | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const { finalizers = [] } = metadata;
  const reason = finalizers.length === 0 ? '' : `waits for ${finalizers.join(', ')}`;
  return { state: 'Deleting', reason };
}

function notObserved({ metadata, spec, status }: BundleDeployment): DeploymentState | undefined {
  if (status?.observedGeneration === metadata.generation) return undefined;
  const seen = status?.observedGeneration;
  const reason =
    seen === undefined
      ? `no manager of class "${spec.provisionerClassName}" has reconciled it yet`
      : `no manager has reconciled its last change yet (generation ${metadata.generation}, seen ${seen})`;
  return { state: 'NotObserved', reason };
}

/** The old Bundle stays installed when the new one could not be installed. */
function upgradeFailed(deployment: BundleDeployment): DeploymentState | undefined {
  const installed = conditionOf(deployment, bundleDeploymentCondition.installed);
  const valid = conditionOf(deployment, bundleDeploymentCondition.hasValidBundle);
  const { activeBundle = '' } = deployment.status ?? {};
  const next = templateBundle(deployment);
  if (installed?.status !== 'False' || valid?.status === 'False') return undefined;
  if (activeBundle === '' || activeBundle === next) return undefined;
  return { state: 'Installed', reason: `Bundle ${next} is not installed: ${textOf(installed)}` };
}

function notInstalled(deployment: BundleDeployment): DeploymentState | undefined {
  const installed = conditionOf(deployment, bundleDeploymentCondition.installed);
  if (installed?.status === 'True') return undefined;
  const valid = conditionOf(deployment, bundleDeploymentCondition.hasValidBundle);
  // While there is nothing to install, the failure of an earlier attempt does not help.
  const first = valid?.status === 'False' ? valid : installed;
  const cause = first ?? heldUpBy(deployment) ?? valid;
  return { state: 'NotInstalled', reason: cause === undefined ? '' : textOf(cause) };
}

/** The old Bundle stays installed until the new one is ready. */
function upgradePending(deployment: BundleDeployment): DeploymentState | undefined {
  const valid = conditionOf(deployment, bundleDeploymentCondition.hasValidBundle);
  if (valid === undefined || valid.status === 'True') return undefined;
  return { state: 'Installed', reason: `the next Bundle is not ready: ${textOf(valid)}` };
}

function unhealthy(deployment: BundleDeployment): DeploymentState | undefined {
  const healthy = conditionOf(deployment, bundleDeploymentCondition.healthy);
  if (healthy === undefined || healthy.status === 'True') return undefined;
  return { state: 'Unhealthy', reason: textOf(healthy) };
}

/** The installed Bundle works, but it is not the template's, or a step is pending. */
function heldUp(deployment: BundleDeployment): DeploymentState | undefined {
  const progressing = heldUpBy(deployment);
  if (progressing === undefined) return undefined;
  const healthy = conditionOf(deployment, bundleDeploymentCondition.healthy);
  return { state: healthy === undefined ? 'Installed' : 'Healthy', reason: textOf(progressing) };
}

function heldUpBy(deployment: BundleDeployment): ReturnType<typeof conditionOf> {
  const progressing = conditionOf(deployment, bundleDeploymentCondition.progressing);
  return progressing?.status === 'False' ? progressing : undefined;
}

function textOf({ reason, message }: Pick<Condition, 'reason' | 'message'>): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

/** Name of the Bundle for a deployment's template. */
export function templateBundle({ metadata, spec }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(spec.template));
}

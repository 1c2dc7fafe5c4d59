import type { KubernetesObject } from '../../../api/meta.ts';
import type { HookRun } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { objectPath } from '../../apply/index.ts';
import type { BundleDeploymentState } from '../state.ts';

/** `pre-install hook Job/shop/migrate` */
export function hookText(
  { event }: Pick<HookRun, 'event'>,
  { kind, metadata: { namespace, name = '' } }: KubernetesObject,
): string {
  return `${event} hook ${objectPath(kind, { namespace, name })}`;
}

/** A hook that is being run, and how many its event has. */
export interface RunningHook {
  readonly hook: KubernetesObject;
  readonly run: HookRun;
  readonly count: number;
}

/** `limit` is in milliseconds. */
export function runningText(
  { hook, run, count }: RunningHook,
  { since, limit }: { readonly since: string; readonly limit: number },
): string {
  const which = count === 1 ? '' : ` (${run.completed + 1} of ${count})`;
  return `waiting for ${hookText(run, hook)}${which}: it runs since ${since}, and may take ${limit / 1000} s`;
}

/** `pause` is in milliseconds. */
export function changingText({ event }: Pick<HookRun, 'event'>, pause: number): string {
  return `waiting for ${Math.ceil(pause / 1000)} s to begin ${event} hooks: what is to be applied has just changed`;
}

export function replacingText(run: HookRun, hook: KubernetesObject): string {
  return `${hookText(run, hook)} waits for the object of an earlier run to go`;
}

/** Why a hook failed, and the ways on. */
export function failureText(
  { deployment }: Pick<BundleDeploymentState, 'deployment'>,
  { failure = '', retryAt = '' }: HookRun,
): string {
  return (
    `${failure}. It is tried again at ${retryAt}, or at once when the bundle or the config changes; ` +
    `to go on without hooks: ${skipCommand(deployment)}`
  );
}

export function skipCommand({ metadata }: KubernetesObject): string {
  return `kubectl annotate bundledeployment ${metadata.name} ${annotation.skipHooks}=true`;
}

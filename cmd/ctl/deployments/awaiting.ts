import { setTimeout as delay } from 'node:timers/promises';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import { type KubeClient, liveObject } from '../../../core/platform/kube/index.ts';
import {
  conditionOf,
  deploymentState,
  isGood,
  templateBundle,
} from '../status/deployment-state.ts';

const interval = 300;

interface PollOptions<T> {
  /** May throw when the wanted state can no longer come. */
  readonly isDone: (answer: T) => boolean;
  /** Milliseconds. */
  readonly timeout: number;
  /** The message after the timeout; `time` is the timeout with its unit. */
  readonly late: (last: T, time: string) => string | Promise<string>;
  readonly signal: AbortSignal;
}

/**
 * Asks repeatedly, and returns the first wanted answer.
 * @throws TerminalError after the timeout.
 */
export async function pollUntil<T>(
  ask: () => Promise<T>,
  { isDone, timeout, late, signal }: PollOptions<T>,
): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    if (Date.now() >= deadline) {
      throw new TerminalError(await late(answer, `${timeout / 1000} s`));
    }
    await delay(interval, undefined, { signal });
  }
}

/** A request to reconcile a deployment. */
interface ReconcileRequest {
  /** Value of the annotation. */
  readonly at: string;
  /** The last request that core had reconciled it for. */
  readonly handledBefore: string | undefined;
}

interface AwaitedDeployment {
  readonly name: string;
  /** The request after which core must have reconciled it (default: none). */
  readonly request?: ReconcileRequest;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until the template's Bundle is installed, and healthy if health is reported.
 * @throws TerminalError with the last state, after the timeout.
 */
export async function awaitGood(
  client: Pick<KubeClient, 'get'>,
  { name, request, timeout, signal }: AwaitedDeployment,
): Promise<void> {
  const isHandled = (live: BundleDeployment): boolean =>
    request === undefined || hasHandled(live, request);
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => {
      const deployment = live as BundleDeployment;
      const isNext = deployment.status?.activeBundle === templateBundle(deployment);
      return isNext && isGood(deployment) && isHandled(deployment);
    },
    late: (live, time) => {
      const { state, reason } = deploymentState(live as BundleDeployment);
      if (!isHandled(live as BundleDeployment))
        return `core has not reconciled BundleDeployment "${name}" in ${time}: is it running, and does it serve the class?`;
      const why = reason === '' ? '' : `: ${reason}`;
      return `BundleDeployment "${name}" is ${state} after ${time}${why}; rukpakctl status ${name} says what to do`;
    },
    timeout,
    signal,
  });
}

/** Whether core has reconciled it for the request, or for a later one that has replaced it. */
function hasHandled(
  { metadata, status }: BundleDeployment,
  { at, handledBefore }: ReconcileRequest,
): boolean {
  const handled = status?.lastHandledReconcileAt;
  if (handled === at) return true;
  const latest = metadata.annotations?.[annotation.reconcileRequestedAt];
  return latest !== undefined && handled === latest && handled !== handledBefore;
}

interface AwaitedDeletion {
  readonly deployment: BundleDeployment;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until a deployment is deleted, or another one has its name.
 * @throws TerminalError that says what the deletion waits for, after the timeout.
 */
export async function awaitGone(
  client: Pick<KubeClient, 'get'>,
  { deployment: { metadata }, timeout, signal }: AwaitedDeletion,
): Promise<void> {
  const target = { resource: bundleDeploymentResource, key: { name: metadata.name ?? '' } };
  await pollUntil(() => liveObject(client, target, signal), {
    isDone: (live) => live === undefined || live.metadata.uid !== metadata.uid,
    late: (live, time) =>
      `BundleDeployment "${metadata.name}" is being deleted, and is still there after ${time}: ${waitsFor(live as BundleDeployment)}`,
    timeout,
    signal,
  });
}

function waitsFor(deployment: BundleDeployment): string {
  const progressing = conditionOf(deployment, bundleDeploymentCondition.progressing);
  if (progressing?.status === 'False' && progressing.message !== '') return progressing.message;
  const { finalizers = [] } = deployment.metadata;
  return `it waits for ${finalizers.join(', ')}, which core removes: is it running?`;
}

interface AwaitedBundle {
  readonly name: string;
  readonly bundle: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until the deployment has the Bundle installed, and healthy if health is reported.
 * @throws TerminalError when the Bundle is rolled back or replaced, or after the timeout.
 */
export async function awaitBundle(
  client: Pick<KubeClient, 'get'>,
  { name, bundle, timeout, signal }: AwaitedBundle,
): Promise<void> {
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => {
      const { activeBundle, rollback } = (live as BundleDeployment).status ?? {};
      if (rollback?.from === bundle) {
        throw new TerminalError(`Bundle "${bundle}" was rolled back: ${rollback.reason}`);
      }
      const { state } = deploymentState(live as BundleDeployment);
      return activeBundle === bundle && (state === 'Healthy' || state === 'Installed');
    },
    late: (live, time) => {
      const { state, reason } = deploymentState(live as BundleDeployment);
      return `Bundle "${bundle}" is not installed and healthy after ${time}: ${state} ${reason}`;
    },
    timeout,
    signal,
  });
}

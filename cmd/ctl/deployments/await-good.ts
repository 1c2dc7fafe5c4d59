import { setTimeout as delay } from 'node:timers/promises';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { KubeClient } from '../../../core/kube/kube-client.ts';
import { deploymentState, isGood } from '../status/deployment-state.ts';
import { templateBundle } from '../template-bundle.ts';

export interface AwaitedDeployment {
  readonly name: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

const pollInterval = 300;

/**
 * Waits until what the template asks for is installed, and healthy where that is reported.
 * @throws TerminalError with the last state, where it is not in time.
 */
export async function awaitGood(
  client: Pick<KubeClient, 'get'>,
  { name, timeout, signal }: AwaitedDeployment,
): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const live = await client.get(bundleDeploymentResource, { name }, signal);
    const deployment = live as BundleDeployment;
    const isNext = deployment.status?.activeBundle === templateBundle(deployment);
    if (isNext && isGood(deployment)) return;
    if (Date.now() >= deadline) {
      const { state, reason } = deploymentState(deployment);
      const why = reason === '' ? '' : `: ${reason}`;
      throw new TerminalError(
        `BundleDeployment "${name}" is ${state} after ${timeout / 1000} s${why}; rukpakctl status ${name} says what to do`,
      );
    }
    await delay(pollInterval, undefined, { signal });
  }
}

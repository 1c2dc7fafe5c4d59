import { setTimeout as delay } from 'node:timers/promises';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { KubeClient } from '../../../core/kube/kube-client.ts';
import { deploymentState } from '../status/deployment-state.ts';

const pollInterval = 300;

export interface AwaitedBundle {
  readonly name: string;
  readonly bundle: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until the deployment has the Bundle installed, and healthy where that is reported.
 * @throws TerminalError where it is given up for another one, or the time is over.
 */
export async function awaitBundle(
  client: Pick<KubeClient, 'get'>,
  { name, bundle, timeout, signal }: AwaitedBundle,
): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const live = await client.get(bundleDeploymentResource, { name }, signal);
    const deployment = live as BundleDeployment;
    const { activeBundle, rollback } = deployment.status ?? {};
    const { state, reason } = deploymentState(deployment);
    if (activeBundle === bundle && (state === 'Healthy' || state === 'Installed')) return;
    if (rollback?.from === bundle) {
      throw new TerminalError(`Bundle "${bundle}" was given up: ${rollback.reason}`);
    }
    if (Date.now() >= deadline) {
      throw new TerminalError(
        `Bundle "${bundle}" is not installed and healthy after ${timeout / 1000} s: ${state} ${reason}`,
      );
    }
    await delay(pollInterval, undefined, { signal });
  }
}

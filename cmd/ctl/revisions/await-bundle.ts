import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { KubeClient } from '../../../core/platform/kube/index.ts';
import { pollUntil } from '../deployments/poll-until.ts';
import { deploymentState } from '../status/deployment-state.ts';

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
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => {
      const { activeBundle, rollback } = (live as BundleDeployment).status ?? {};
      if (rollback?.from === bundle) {
        throw new TerminalError(`Bundle "${bundle}" was given up: ${rollback.reason}`);
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

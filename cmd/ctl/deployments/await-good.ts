import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { KubeClient } from '../../../core/platform/kube/index.ts';
import { deploymentState, isGood } from '../status/deployment-state.ts';
import { templateBundle } from '../template-bundle.ts';
import { pollUntil } from './poll-until.ts';

export interface AwaitedDeployment {
  readonly name: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until what the template asks for is installed, and healthy where that is reported.
 * @throws TerminalError with the last state, where it is not in time.
 */
export async function awaitGood(
  client: Pick<KubeClient, 'get'>,
  { name, timeout, signal }: AwaitedDeployment,
): Promise<void> {
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => {
      const deployment = live as BundleDeployment;
      const isNext = deployment.status?.activeBundle === templateBundle(deployment);
      return isNext && isGood(deployment);
    },
    late: (live, time) => {
      const { state, reason } = deploymentState(live as BundleDeployment);
      const why = reason === '' ? '' : `: ${reason}`;
      return `BundleDeployment "${name}" is ${state} after ${time}${why}; rukpakctl status ${name} says what to do`;
    },
    timeout,
    signal,
  });
}

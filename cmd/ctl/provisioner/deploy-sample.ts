import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { configMapResource, type KubeClient } from '../../../core/platform/kube/index.ts';
import { pollUntil } from '../deployments/poll-until.ts';
import { deploymentState, isGood } from '../status/deployment-state.ts';
import type { Sample } from './read-sample.ts';

export interface DeployOptions {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Applies the sample, and waits until it is installed and healthy.
 * @throws TerminalError that says what it waits for where the time is over.
 */
export async function deploySample(
  client: Pick<KubeClient, 'apply' | 'get'>,
  { configMaps, deployment }: Sample,
  { timeout, signal }: DeployOptions,
): Promise<void> {
  const options = { fieldManager: 'rukpakctl', force: true, signal };
  for (const object of configMaps) await client.apply(configMapResource, object, options);
  const applied = await client.apply(bundleDeploymentResource, deployment, options);
  const name = applied.metadata.name ?? '';
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => isGood(live as BundleDeployment),
    late: (live, time) => {
      const { state, reason } = deploymentState(live as BundleDeployment);
      return `"${name}" is not installed and healthy after ${time}: ${state} ${reason}`;
    },
    timeout,
    signal,
  });
}

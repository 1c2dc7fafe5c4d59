import { setTimeout as delay } from 'node:timers/promises';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import { configMapResource } from '../../../core/kube/core-resources.ts';
import type { KubeClient } from '../../../core/kube/kube-client.ts';
import { deploymentState, isGood } from '../status/deployment-state.ts';
import type { Sample } from './read-sample.ts';

export interface DeployOptions {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

const pollInterval = 300;

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
  const deadline = Date.now() + timeout;
  for (;;) {
    const live = await client.get(bundleDeploymentResource, { name }, signal);
    if (isGood(live as BundleDeployment)) return;
    if (Date.now() >= deadline) {
      const { state, reason } = deploymentState(live as BundleDeployment);
      throw new TerminalError(
        `"${name}" is not installed and healthy after ${timeout / 1000} s: ${state} ${reason}`,
      );
    }
    await delay(pollInterval, undefined, { signal });
  }
}

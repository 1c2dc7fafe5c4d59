import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../../core/platform/kube/index.ts';
import { conditionOf } from '../status/deployment-state.ts';
import { pollUntil } from './poll-until.ts';

export interface AwaitedDeletion {
  readonly deployment: BundleDeployment;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until a deployment is gone, or another one has its name.
 * @throws TerminalError that says what the deletion waits for, where it is not done in time.
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

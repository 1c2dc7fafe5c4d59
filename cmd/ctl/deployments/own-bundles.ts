import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { generatedFor, isOwn } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { type KubeClient, listAll } from '../../../core/platform/kube/index.ts';
import { templateBundle } from '../status/deployment-state.ts';

/**
 * The Bundles that a deployment owns, and those of the names that it asks for or has installed, which
 * core may wait for. Labels alone are no proof: everybody who may create Bundles can write them, and
 * would have other content, Events and log lines shown as those of the deployment.
 */
export async function bundlesOf(
  client: Pick<KubeClient, 'list'>,
  deployment: BundleDeployment,
  signal: AbortSignal,
): Promise<readonly Bundle[]> {
  const { name } = deployment.metadata;
  const { items } = await listAll(client, bundleResource, {
    labelSelector: `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${name}`,
    transform: (bundle) => bundle as Bundle,
    signal,
  });
  const wanted = new Set([templateBundle(deployment), deployment.status?.activeBundle]);
  return items.filter(
    (bundle) =>
      generatedFor(bundle) === name &&
      (isOwn(bundle, deployment) || wanted.has(bundle.metadata.name)),
  );
}

import { catalogResource } from '../../api/catalogd/v1alpha1/index.ts';
import { installerLabel } from '../../api/crd/custom-resource-definition.ts';
import { clusterCatalogResource, clusterExtensionResource } from '../../api/olm/v1/index.ts';
import { operatorResource } from '../../api/operators/v1alpha1/index.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import {
  definitionResource,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';

/** Extensions first: they make BundleDeployments. */
const ofOperators = [
  operatorResource,
  clusterExtensionResource,
  catalogResource,
  clusterCatalogResource,
];
const ofCore = [bundleDeploymentResource, bundleResource];

/**
 * The kinds of the system, in the order in which their objects can be deleted. Those of OLM 1.0 only
 * if this project installed their CRDs: another project may own them.
 */
export async function installedKinds(
  client: Pick<KubeClient, 'get'>,
): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  for (const resource of ofOperators) {
    const key = { name: definitionName(resource) };
    const crd = await liveObject(client, { resource: definitionResource, key });
    const labels = crd?.metadata.labels ?? {};
    if (labels[installerLabel.key] === installerLabel.value) found.push(resource);
  }
  return [...found, ...ofCore];
}

/** Whether the kind's objects exist only through the process of operators. */
export function isOfOperators({ group }: Resource): boolean {
  return ofOperators.some((resource) => resource.group === group);
}

export function definitionName({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { OwnedApiService } from '../csv/owned-api-service.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { caSource, serviceName } from '../webhooks/serving-names.ts';

/** An APIService per group and version that the operator serves itself, of however many kinds. */
export function apiServices(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const byName = new Map(csv.ownedApiServices.map((owned) => [apiServiceName(owned), owned]));
  return [...byName].map(([name, owned]) => apiService(name, owned, installNamespace));
}

/** The only name that the API server takes for it. */
export function apiServiceName({ group, version }: OwnedApiService): string {
  return `${version}.${group}`;
}

function apiService(
  name: string,
  { group, version, deploymentName, containerPort }: OwnedApiService,
  namespace: string,
): KubernetesObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {
      name,
      annotations: { [annotation.injectCaFrom]: caSource(deploymentName, namespace) },
    },
    spec: {
      group,
      version,
      // As OLM has them for every operator.
      groupPriorityMinimum: 2000,
      versionPriority: 15,
      service: { namespace, name: serviceName(deploymentName), port: containerPort },
    },
  };
}

import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import type { OwnedApiService, StrategyDeployment } from '../bundle/cluster-service-version.ts';
import { fieldOf, isMap, isOfCoreKind, itemsOf, objectName } from '../bundle/objects.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import {
  apiServiceName,
  caSource,
  type ServedPort,
  secretName,
  servedPorts,
  serviceName,
} from '../serving.ts';
import { binding, serviceAccountOf } from './permissions.ts';

/**
 * A Service with a certificate for each deployment with webhooks or APIs. The bundle's own Service
 * of that name gets the missing fields, because the API server calls this one.
 */
export function services(
  bundle: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.deployments.flatMap((deployment) => {
    const ports = servedPorts(bundle.csv, deployment.name);
    if (ports.length === 0) return [];
    const name = serviceName(deployment.name);
    const own = bundle.others.find(
      (each) => isOfCoreKind(each, 'Service') && objectName(each) === name,
    );
    return [service(deployment, ports, { name, namespace: installNamespace, own })];
  });
}

function service(
  deployment: StrategyDeployment,
  ports: readonly ServedPort[],
  { name, namespace, own }: { name: string; namespace: string; own: KubernetesObject | undefined },
): KubernetesObject {
  const written = own?.['spec'] as JsonValue | undefined;
  const ownSpec = isMap(written) ? written : {};
  const selector = fieldOf(fieldOf(deployment.spec, 'selector'), 'matchLabels');
  return {
    ...own,
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...own?.metadata,
      name,
      namespace,
      annotations: {
        ...own?.metadata.annotations,
        [annotation.servingCertificate]: secretName(deployment.name),
      },
    },
    spec: {
      ...ownSpec,
      ports: [...ports.map(servicePort), ...otherPorts(ownSpec['ports'], ports)],
      // The deployment's own selector, so that the Service selects only its pods.
      ...(selector === undefined ? {} : { selector }),
    },
  };
}

// Named by its number, as in OLM.
function servicePort({ port, targetPort }: ServedPort): JsonObject {
  return { name: String(port), port, targetPort };
}

/** The bundle's own ports besides the served ones; with several ports each needs a name. */
function otherPorts(
  written: JsonValue | undefined,
  served: readonly ServedPort[],
): readonly JsonValue[] {
  const numbers = new Set<JsonValue | undefined>(served.map(({ port }) => port));
  return itemsOf(written)
    .filter(isMap)
    .filter(({ port }) => !numbers.has(port))
    .map((port, index) => ({ name: `own-${index + 1}`, ...port }));
}

/** An APIService per group and version that the operator serves itself, for any number of kinds. */
export function apiServices(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const byName = new Map(csv.ownedApiServices.map((owned) => [apiServiceName(owned), owned]));
  return [...byName].map(([name, owned]) => apiService(name, owned, installNamespace));
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
      // OLM's value for every operator.
      groupPriorityMinimum: 2000,
      versionPriority: 15,
      service: { namespace, name: serviceName(deploymentName), port: containerPort },
    },
  };
}

/**
 * Permissions with which a server of aggregated APIs authenticates requests: it asks the API server
 * to check tokens and permissions, and reads the CA of the API server's client certificate.
 */
export function apiServiceBindings(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const servers = new Set(csv.ownedApiServices.map(({ deploymentName }) => deploymentName));
  return csv.deployments
    .filter(({ name }) => servers.has(name))
    .flatMap((deployment) => {
      const name = serviceName(deployment.name);
      const account = { name: serviceAccountOf(deployment), namespace: installNamespace };
      const reader = { name: `${name}-auth-reader`, namespace: 'kube-system' };
      return [
        binding({ name: `${name}-system:auth-delegator` }, 'system:auth-delegator', account),
        binding(reader, 'extension-apiserver-authentication-reader', account),
      ];
    });
}

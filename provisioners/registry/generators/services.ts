import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import type { OwnedApiService, StrategyDeployment } from '../cluster-service-version.ts';
import type { Installation } from '../installation.ts';
import { fieldOf, isMap, itemsOf, objectName } from '../objects.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
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
 * A Service in front of each deployment that serves webhooks or APIs, with a certificate for it. One
 * of the bundle's own by the same name gets what is missing, since the API server calls this one.
 */
export function services(
  bundle: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.deployments.flatMap((deployment) => {
    const ports = servedPorts(bundle.csv, deployment.name);
    if (ports.length === 0) return [];
    const name = serviceName(deployment.name);
    const own = bundle.others.find((each) => isService(each) && objectName(each) === name);
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
      // The deployment's own, so that the Service leads to its pods and to no others.
      ...(selector === undefined ? {} : { selector }),
    },
  };
}

// Named by its number, as OLM does.
function servicePort({ port, targetPort }: ServedPort): JsonObject {
  return { name: String(port), port, targetPort };
}

/** The bundle's own ports beside those that are served; with several of them each has to have a name. */
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

function isService({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === 'v1' && kind === 'Service';
}

/** An APIService per group and version that the operator serves itself, of however many kinds. */
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
      // As OLM has them for every operator.
      groupPriorityMinimum: 2000,
      versionPriority: 15,
      service: { namespace, name: serviceName(deploymentName), port: containerPort },
    },
  };
}

/**
 * What a server of aggregated APIs needs to authenticate requests: it has the API server check tokens
 * and permissions, and reads the CA of the API server's client certificate.
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

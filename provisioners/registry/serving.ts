import type { KubernetesObject } from '../../core/sdk.ts';
import type { ClusterServiceVersion, OwnedApiService } from './bundle/cluster-service-version.ts';
import { isOfCoreKind, objectName } from './bundle/objects.ts';

const maxServiceName = 63;
const suffix = '-service';

/** OLM's name for the Service of a deployment with webhooks or APIs. */
export function serviceName(deploymentName: string): string {
  const base = deploymentName.replaceAll('.', '-');
  // A deployment's name may be longer than a Service's.
  return `${base.slice(0, maxServiceName - suffix.length)}${suffix}`;
}

/** OLM's name for the Secret with the certificate of such a deployment. */
export function secretName(deploymentName: string): string {
  return `${serviceName(deploymentName)}-cert`;
}

/** Name of the APIService of an owned API, as the API server requires it. */
export function apiServiceName({ group, version }: OwnedApiService): string {
  return `${version}.${group}`;
}

/**
 * Value of `core.rukpak.io/inject-ca-from` on objects with which the API server calls the
 * deployment.
 */
export function caSource(deploymentName: string, namespace: string): string {
  return `${namespace}/${secretName(deploymentName)}`;
}

/** A port of a deployment's Service, and its target in the container. */
export interface ServedPort {
  readonly port: number;
  readonly targetPort: number | string;
}

/**
 * The ports at which the API server calls a deployment of the CSV, without duplicates, by number;
 * empty for a deployment without webhooks and APIs.
 */
export function servedPorts(
  { webhookDefinitions, ownedApiServices }: ClusterServiceVersion,
  deploymentName: string,
): readonly ServedPort[] {
  const ports = [...webhookDefinitions, ...ownedApiServices]
    .filter((served) => served.deploymentName === deploymentName)
    .map((served) => ({
      port: served.containerPort,
      targetPort: 'targetPort' in served ? served.targetPort : served.containerPort,
    }));
  return [...new Map(ports.map((port) => [JSON.stringify(port), port])).values()].sort(
    (a, b) => a.port - b.port || numberOf(a) - numberOf(b) || compare(a, b),
  );
}

// A named port comes before numbers, as in OLM.
function numberOf({ targetPort }: ServedPort): number {
  return typeof targetPort === 'number' ? targetPort : 0;
}

function compare(a: ServedPort, b: ServedPort): number {
  return String(a.targetPort) < String(b.targetPort) ? -1 : 1;
}

/**
 * Whether core will make a certificate Secret of that name: the bundle's own content of it is not
 * meant for core.
 */
export function isMadeSecret(object: KubernetesObject, csv: ClusterServiceVersion): boolean {
  if (!isOfCoreKind(object, 'Secret')) return false;
  const name = objectName(object);
  return csv.deployments.some(
    (deployment) =>
      secretName(deployment.name) === name && servedPorts(csv, deployment.name).length > 0,
  );
}

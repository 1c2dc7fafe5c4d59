import type { KubernetesObject } from '../../core/sdk.ts';
import type { ClusterServiceVersion, OwnedApiService } from './cluster-service-version.ts';
import { objectName } from './objects.ts';

const maxServiceName = 63;
const suffix = '-service';

/** Name of the Service in front of a deployment that serves webhooks or APIs, as OLM names it. */
export function serviceName(deploymentName: string): string {
  const base = deploymentName.replaceAll('.', '-');
  // A deployment's name may be longer than a Service's.
  return `${base.slice(0, maxServiceName - suffix.length)}${suffix}`;
}

/** Name of the Secret with the certificate that such a deployment serves with, as OLM names it. */
export function secretName(deploymentName: string): string {
  return `${serviceName(deploymentName)}-cert`;
}

/** Name of the APIService of an owned API: the only one that the API server takes for it. */
export function apiServiceName({ group, version }: OwnedApiService): string {
  return `${version}.${group}`;
}

/** What `core.rukpak.io/inject-ca-from` says on whatever the API server calls the deployment by. */
export function caSource(deploymentName: string, namespace: string): string {
  return `${namespace}/${secretName(deploymentName)}`;
}

/** A port of the Service in front of a deployment, and where in the container it leads to. */
export interface ServedPort {
  readonly port: number;
  readonly targetPort: number | string;
}

/**
 * The ports at which the API server reaches a deployment of the CSV, each once, by number; none
 * where the deployment serves neither webhooks nor APIs.
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

// A port by its name comes before those by number, as OLM sorts them.
function numberOf({ targetPort }: ServedPort): number {
  return typeof targetPort === 'number' ? targetPort : 0;
}

function compare(a: ServedPort, b: ServedPort): number {
  return String(a.targetPort) < String(b.targetPort) ? -1 : 1;
}

/** Whether a certificate will be in a Secret of that name: what the bundle has in it is for elsewhere. */
export function isMadeSecret(object: KubernetesObject, csv: ClusterServiceVersion): boolean {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return false;
  const name = objectName(object);
  return csv.deployments.some(
    (deployment) =>
      secretName(deployment.name) === name && servedPorts(csv, deployment.name).length > 0,
  );
}

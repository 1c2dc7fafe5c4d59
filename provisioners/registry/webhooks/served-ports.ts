import type { ClusterServiceVersion } from '../csv/cluster-service-version.ts';

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

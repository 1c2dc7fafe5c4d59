import type { RegistryBundle } from '../registry-bundle.ts';
import { servedPorts } from '../webhooks/served-ports.ts';

/** A Service's port leads to one port of the pods. */
export function oneTargetPerPort({ csv }: RegistryBundle): string | undefined {
  for (const { name } of csv.deployments) {
    const ports = servedPorts(csv, name);
    const second = ports.find(({ port }, index) => ports[index - 1]?.port === port);
    if (second === undefined) continue;
    const targets = ports.filter(({ port }) => port === second.port).map((each) => each.targetPort);
    return `deployment '${name}' serves containerPort ${second.port} at different ports of its pods (${targets.join(', ')}); give its webhooks and owned APIServices one targetPort for it, or each its own containerPort`;
  }
  return undefined;
}

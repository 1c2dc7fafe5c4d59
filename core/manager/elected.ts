import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { EventSink } from '../contracts/event-sink.ts';
import { systemClock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { LeaderMetrics } from '../platform/observe/index.ts';
import { LeaderElector, type Runnable } from '../platform/runtime/index.ts';
import type { ManagerSettings } from './settings.ts';

export interface ElectionParts {
  readonly options: ManagerSettings;
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly metrics: { readonly leader: Pick<LeaderMetrics, 'leads'> };
}

/** What one process does for all, behind the lease where one is asked for. */
export function elected(
  runnables: readonly Pick<Runnable, 'run'>[],
  parts: ElectionParts,
): Runnable {
  const runAll = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(runnables.map((runnable) => runnable.run(signal)));
  };
  const { leaseName, systemNamespace: namespace, logger } = parts.options;
  if (leaseName === undefined) return { name: 'controllers', run: runAll };
  const identity = `${hostname()}_${randomUUID()}`;
  const lock = { client: parts.client, namespace, name: leaseName, identity };
  const elector = new LeaderElector({ ...lock, clock: systemClock, logger });
  const announce = announcements(lock, parts);
  announce(false);
  return {
    name: 'leader election',
    run: (signal) =>
      elector.run(signal, {
        onStarted: async (leading) => {
          announce(true);
          await runAll(leading).finally(() => announce(false));
        },
        onLost: () => {
          announce(false);
          logger.error({ lease: leaseName }, 'another process leads now');
        },
      }),
  };
}

/** Tells metrics who leads, and Events on the Lease, as client-go does, when that changes. */
function announcements(
  { namespace, name, identity }: { namespace: string; name: string; identity: string },
  { events, metrics }: ElectionParts,
): (leads: boolean) => void {
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
  };
  let led = false;
  return (leads) => {
    metrics.leader.leads(name, leads);
    if (leads === led) return;
    led = leads;
    const message = `${identity} ${leads ? 'became leader' : 'stopped leading'}`;
    events.event(lease, { type: 'Normal', reason: 'LeaderElection', message });
  };
}

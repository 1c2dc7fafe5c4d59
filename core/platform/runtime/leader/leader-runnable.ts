import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { EventSink } from '../../../contracts/event-sink.ts';
import type { Logger } from '../../../contracts/logger.ts';
import type { Clock } from '../../clock.ts';
import type { KubeClient } from '../../kube/index.ts';
import type { Runnable } from '../manager.ts';
import { LeaderElector } from './leader-elector.ts';
import { checkNobodyLeads } from './other-leader.ts';

interface LeaderOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly leaseName: string;
  /**
   * False: the process takes no Lease. It leads as soon as no other process holds the Lease, and
   * fails if one does (default: true).
   */
  readonly leaderElection?: boolean | undefined;
  /**
   * What the parts read. Renewed after the Lease is taken: a watch may be behind what the leader
   * before has written, and acting on that would undo it.
   */
  readonly caches: readonly Pick<Runnable, 'refresh'>[];
  readonly events: EventSink;
  readonly metrics: { readonly leader: { leads(lease: string, leads: boolean): void } };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The parts that run in only one process, behind the Lease if there is one. */
export function leaderRunnable(
  runnables: readonly Pick<Runnable, 'run'>[],
  options: LeaderOptions,
): Runnable {
  const { client, namespace, leaseName, caches, clock, logger } = options;
  const run: Runnable['run'] = async (signal, lost) => await runAll(runnables, signal, lost);
  if (options.leaderElection === false) return withoutLease(run, options);
  const identity = `${hostname()}_${randomUUID()}`;
  const lock = { client, namespace, name: leaseName, identity };
  const elector = new LeaderElector({ ...lock, clock, logger });
  const announce = announcements(lock, options);
  announce(false);
  return {
    name: 'leader election',
    run: (signal) =>
      elector.run(signal, {
        onStarted: async (leading, lost) => {
          announce(true);
          try {
            if (await areRenewed(caches, leading)) await run(leading, lost);
          } finally {
            announce(false);
          }
        },
        onLost: ({ message }) => {
          announce(false);
          logger.error({ lease: leaseName }, message);
        },
      }),
  };
}

/** The process has just read everything: its caches need no renewal. */
function withoutLease(run: Runnable['run'], options: LeaderOptions): Runnable {
  return {
    name: 'controllers',
    run: async (signal, lost) => {
      await checkNobodyLeads(options, signal);
      if (!signal.aborted) await run(signal, lost);
    },
  };
}

/** Stops all when one fails, and ends when all have: the Lease must not be free before. */
async function runAll(
  runnables: readonly Pick<Runnable, 'run'>[],
  signal: AbortSignal,
  lost: AbortSignal | undefined,
): Promise<void> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const runs = runnables.map(async (runnable) => {
    await runnable.run(stop, lost).catch((error: unknown) => failure.abort(error));
  });
  await Promise.all(runs);
  failure.signal.throwIfAborted();
}

/** False when the signal is aborted first. */
async function areRenewed(caches: LeaderOptions['caches'], signal: AbortSignal): Promise<boolean> {
  try {
    await Promise.all(caches.map(async (cache) => await cache.refresh?.(signal)));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

/** Reports the leader in metrics, and changes in Events on the Lease, as client-go does. */
function announcements(
  { namespace, name, identity }: { namespace: string; name: string; identity: string },
  { events, metrics }: LeaderOptions,
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

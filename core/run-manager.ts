import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ContentRestorer } from './bundle/content-restorer.ts';
import { systemClock } from './clock.ts';
import { connect, type KubeConnection } from './kube/connect.ts';
import { createArchiveCleaner } from './manager/archive-cleaner.ts';
import { createControllers } from './manager/controllers.ts';
import { watchKinds } from './manager/kinds.ts';
import { createObjectCounts } from './manager/object-counts.ts';
import type { ManagerOptions } from './manager/options.ts';
import { createServedBundles } from './manager/served-bundles.ts';
import { createContentServer, createHealthServer } from './manager/servers.ts';
import { unpackDependencies } from './manager/unpacking.ts';
import { createUploads } from './manager/uploads.ts';
import { Metrics } from './observe/metrics.ts';
import { EventRecorder } from './runtime/event-recorder.ts';
import { LeaderElector } from './runtime/leader-elector.ts';
import { Manager, type Runnable } from './runtime/manager.ts';
import { DiskStore } from './store/disk-store.ts';

export type { ContentOptions, ManagerOptions, UploadOptions } from './manager/options.ts';

/**
 * Runs the two reconcilers for some classes, with the content server and the health endpoints,
 * until the signal is aborted; running reconciles are finished first.
 * @throws Error where a part cannot start, or fails for good.
 */
export async function runManager(options: ManagerOptions, signal: AbortSignal): Promise<void> {
  const { logger } = options;
  const clock = systemClock;
  const kube = connect({
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    userAgent: 'rukpak-core',
  });
  const life = new AbortController();
  try {
    const { client } = kube;
    const kinds = watchKinds({ client, clock, logger, ...configMapsToWatch(options) });
    const store = new DiskStore({ ...options.content, limits: options.limits });
    const uploads = createUploads(options, { client, kinds, clock });
    const events = new EventRecorder({ client, component: 'rukpak-core', clock, logger });
    const metrics = new Metrics();
    metrics.objects.watch(createObjectCounts(kinds, options.provisioners));
    const unpacking = unpackDependencies(options, { client, store, uploads, metrics, clock });
    const alive = { metrics, signal: life.signal };
    const restorer = new ContentRestorer({ ...unpacking, ...alive, cache: kinds.bundles });
    const bundles = createServedBundles(kinds, restorer);
    const parts = { ...alive, kube, kinds, store, unpacking, uploads, events, clock };
    const controllers = createControllers(options, parts);
    const manager = new Manager(logger);
    manager.add(createHealthServer(options, kinds));
    manager.add(createContentServer(options, { client, bundles, metrics, uploads, clock }));
    manager.add(...kinds.reflectors);
    manager.add(createArchiveCleaner(store, kinds, logger));
    if (uploads?.shared === false) manager.add(uploads.collector);
    const ofLeader = uploads?.shared === true ? [uploads.collector] : [];
    manager.add(elected([...controllers, ...ofLeader], { options, kube, metrics }));
    logger.info({ server: kube.server, classes: classNames(options) }, 'starting');
    await manager.run(signal);
    await events.flush(AbortSignal.timeout(2_000));
  } finally {
    life.abort(new Error('the manager stops'));
    await kube.close();
  }
}

function configMapsToWatch({ sources, systemNamespace }: ManagerOptions) {
  const areRead = sources.some(({ type }) => type === 'configMaps');
  return { configMapNamespace: areRead ? systemNamespace : undefined };
}

function classNames({ provisioners }: ManagerOptions): readonly string[] {
  return provisioners.map(({ className }) => className);
}

interface ElectionParts {
  readonly options: ManagerOptions;
  readonly kube: KubeConnection;
  readonly metrics: Metrics;
}

/** What one process does for all, behind the lease where one is asked for. */
function elected(
  parts: readonly Pick<Runnable, 'run'>[],
  { options, kube, metrics }: ElectionParts,
): Runnable {
  const runAll = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(parts.map((part) => part.run(signal)));
  };
  const { leaseName, systemNamespace, logger } = options;
  if (leaseName === undefined) return { name: 'controllers', run: runAll };
  metrics.leader.leads(leaseName, false);
  const elector = new LeaderElector({
    client: kube.client,
    namespace: systemNamespace,
    name: leaseName,
    identity: `${hostname()}_${randomUUID()}`,
    clock: systemClock,
    logger,
  });
  return {
    name: 'leader election',
    run: (signal) =>
      elector.run(signal, {
        onStarted: async (leading) => {
          metrics.leader.leads(leaseName, true);
          await runAll(leading).finally(() => metrics.leader.leads(leaseName, false));
        },
        onLost: () => {
          metrics.leader.leads(leaseName, false);
          logger.error({ lease: leaseName }, 'another process leads now');
        },
      }),
  };
}

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from './clock.ts';
import { connect, type KubeConnection } from './kube/connect.ts';
import { createControllers } from './manager/controllers.ts';
import { type Kinds, watchKinds } from './manager/kinds.ts';
import type { ManagerOptions } from './manager/options.ts';
import { createContentServer, createHealthServer } from './manager/servers.ts';
import { createUploads } from './manager/uploads.ts';
import { Metrics } from './observe/metrics.ts';
import { EventRecorder } from './runtime/event-recorder.ts';
import { LeaderElector } from './runtime/leader-elector.ts';
import { Manager, type Runnable } from './runtime/manager.ts';
import { DiskStore } from './store/disk-store.ts';
import { collectGarbage } from './store/garbage-collection.ts';

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
    const parts = { kube, kinds, store, uploads, events, metrics, clock, signal: life.signal };
    const controllers = createControllers(options, parts);
    const manager = new Manager(logger);
    manager.add(createHealthServer(options, kinds));
    manager.add(createContentServer(options, { kube, metrics, uploads, clock }));
    manager.add(...kinds.reflectors);
    manager.add(garbageCollector(store, kinds));
    if (uploads?.shared === false) manager.add(uploads.collector);
    const ofLeader = uploads?.shared === true ? [uploads.collector] : [];
    manager.add(elected([...controllers, ...ofLeader], { options, kube }));
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

/** Bundles may have been deleted while nobody was there to run their finalizers. */
function garbageCollector(store: DiskStore, { bundles }: Kinds): Runnable {
  const collected = Promise.withResolvers<void>();
  return {
    name: 'archive garbage collection',
    ready: () => collected.promise,
    async run() {
      await collectGarbage(store, async () =>
        bundles.list().map(({ metadata }) => ({ name: metadata.name ?? '' })),
      );
      collected.resolve();
    },
  };
}

/** What one process does for all, behind the lease where one is asked for. */
function elected(
  parts: readonly Pick<Runnable, 'run'>[],
  { options, kube }: { readonly options: ManagerOptions; readonly kube: KubeConnection },
): Runnable {
  const runAll = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(parts.map((part) => part.run(signal)));
  };
  const { leaseName, systemNamespace, logger } = options;
  if (leaseName === undefined) return { name: 'controllers', run: runAll };
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
        onStarted: runAll,
        onLost: () => logger.error({ lease: leaseName }, 'another process leads now'),
      }),
  };
}

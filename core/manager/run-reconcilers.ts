import { ContentRestorer } from '../bundle/content-restorer.ts';
import { systemClock } from '../clock.ts';
import { connect } from '../kube/connect.ts';
import { Metrics } from '../observe/metrics.ts';
import { EventRecorder } from '../runtime/event-recorder.ts';
import { Manager } from '../runtime/manager.ts';
import { DiskStore } from '../store/disk-store.ts';
import { createArchiveCleaner } from './archive-cleaner.ts';
import { createClockCheck } from './clock-check.ts';
import { createControllers } from './controllers.ts';
import { openJudge } from './defaults/judge.ts';
import { elected } from './elected.ts';
import { keptArchives } from './kept-archives.ts';
import { watchKinds } from './kinds.ts';
import { createLeftoverReport } from './leftover-report.ts';
import { createObjectCounts } from './object-counts.ts';
import { createServedBundles } from './served-bundles.ts';
import { createContentServer, createHealthServer } from './servers.ts';
import type { ManagerSettings } from './settings.ts';
import { unpackDependencies } from './unpacking.ts';
import { createUploads } from './uploads.ts';

/**
 * Runs the two reconcilers for some classes, with the content server and the health endpoints,
 * until the signal is aborted; running reconciles are finished first.
 * @throws Error where a part cannot start, or fails for good.
 */
export async function runReconcilers(options: ManagerSettings, signal: AbortSignal): Promise<void> {
  const { logger } = options;
  const clock = systemClock;
  const kube = connect({
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    userAgent: 'rukpak-core',
    logger,
  });
  const life = new AbortController();
  const judge = openJudge({ clock, logger });
  try {
    const { client } = kube;
    const kinds = watchKinds({ client, clock, logger, ...configMapsToWatch(options) });
    const events = new EventRecorder({ client, component: 'rukpak-core', clock, logger });
    const metrics = new Metrics();
    const onLeftover = createLeftoverReport(options, { events, metrics: metrics.content });
    const store = new DiskStore({ ...options.content, limits: options.limits, onLeftover });
    const kept = keptArchives(options, { store, kinds, onLeftover });
    const uploads = createUploads(options, { client, events, kinds, clock, onLeftover });
    metrics.memory.watch(options.memory);
    metrics.objects.watch(createObjectCounts(kinds, options.provisioners));
    const unpacking = unpackDependencies(options, {
      client,
      kinds,
      store,
      kept,
      uploads,
      metrics,
      clock,
    });
    const alive = { metrics, signal: life.signal };
    const restorer = new ContentRestorer({ ...unpacking, ...alive, cache: kinds.bundles });
    const bundles = createServedBundles(kinds, restorer);
    kinds.bundles.onChange(({ type, object: { metadata } }) => {
      const isDeleted = type === 'deleted' || metadata.deletionTimestamp !== undefined;
      if (isDeleted) restorer.abandon(metadata.uid ?? '');
    });
    const parts = { ...alive, kube, judge, kinds, store, kept, unpacking, uploads, events, clock };
    const controllers = createControllers(options, parts);
    const manager = new Manager(logger);
    const { clockOffset } = kube;
    const clockCheck = createClockCheck({ clockOffset, metrics: metrics.clock, clock, logger });
    manager.add(createHealthServer(options, kinds), clockCheck);
    manager.add(createContentServer(options, { client, bundles, metrics, uploads, clock }));
    manager.add(...kinds.reflectors);
    manager.add(createArchiveCleaner({ store, kept }, kinds, onLeftover));
    if (uploads?.shared === false) manager.add(uploads.collector);
    const ofLeader = uploads?.shared === true ? [uploads.collector] : [];
    manager.add(elected([...controllers, ...ofLeader], { options, client, events, metrics }));
    logger.info({ server: kube.server, classes: classNames(options) }, 'starting');
    await manager.run(signal);
    await events.flush(AbortSignal.timeout(2_000));
  } finally {
    life.abort(new Error('the manager stops'));
    await judge.close();
    await kube.close();
  }
}

function configMapsToWatch({ sources, systemNamespace }: ManagerSettings) {
  const areRead = sources.some(({ type }) => type === 'configMaps');
  return { configMapNamespace: areRead ? systemNamespace : undefined };
}

function classNames({ provisioners }: ManagerSettings): readonly string[] {
  return provisioners.map(({ className }) => className);
}

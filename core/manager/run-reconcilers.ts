import { systemClock } from '../platform/clock.ts';
import { connect } from '../platform/kube/index.ts';
import { Metrics } from '../platform/observe/index.ts';
import { EventRecorder, Manager, type Runnable } from '../platform/runtime/index.ts';
import { createClockCheck } from './clock-check.ts';
import { createControllers } from './controllers.ts';
import { createCrdReaderRole } from './crd-reader-role.ts';
import { openJudge } from './defaults/judge.ts';
import { elected } from './elected.ts';
import { watchKinds } from './kinds.ts';
import { createLeftoverReport } from './leftover-report.ts';
import { createObjectCounts } from './object-counts.ts';
import { createContentServer, createHealthServer } from './servers.ts';
import type { ManagerSettings } from './settings.ts';
import { createOwnPlaces } from './unpacking.ts';
import { createUnpackingZone } from './unpacking-zone.ts';

/**
 * Runs the two reconcilers for some classes, or that of one zone, with the content server and the
 * health endpoints, until the signal is aborted; running reconciles are finished first.
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
  const judge = openJudge({ memory: options.memory, clock, logger });
  try {
    const { client } = kube;
    const kinds = watchKinds({ client, clock, logger, ...whatToWatch(options) });
    const events = new EventRecorder({ client, component: 'rukpak-core', clock, logger });
    const metrics = new Metrics();
    const onLeftover = createLeftoverReport(options, { events, metrics: metrics.content });
    metrics.memory.watch(options.memory);
    metrics.objects.watch(createObjectCounts(kinds, options.provisioners));
    const ownPlaces = createOwnPlaces(options, clock);
    const alive = { metrics, signal: life.signal };
    const parts = { ...alive, kinds, events, ownPlaces, clock };
    const unpacking =
      options.zone === 'applying'
        ? undefined
        : createUnpackingZone(options, { ...parts, client, onLeftover });
    const controllers = createControllers(options, { ...parts, kube, judge, unpacking });
    const manager = new Manager(logger);
    const { clockOffset } = kube;
    const clockCheck = createClockCheck({ clockOffset, metrics: metrics.clock, clock, logger });
    manager.add(createHealthServer(options, kinds), clockCheck);
    manager.add(createContentServer(options, { client, unpacking, metrics, clock }));
    manager.add(...kinds.reflectors);
    manager.add(...(unpacking?.cleaners ?? []));
    const ofLeader: Pick<Runnable, 'run'>[] = [
      ...controllers,
      ...(unpacking?.sharedCleaners ?? []),
    ];
    const { crdReaderRole: name } = options;
    if (name !== undefined)
      ofLeader.push(createCrdReaderRole({ client, name, clock, logger, metrics }));
    manager.add(elected(ofLeader, { options, client, events, metrics }));
    logger.info({ server: kube.server, classes: classNames(options) }, 'starting');
    await manager.run(signal);
    await events.flush(AbortSignal.timeout(2_000));
  } finally {
    life.abort(new Error('the manager stops'));
    await judge.close();
    await kube.close();
  }
}

function whatToWatch({ sources, systemNamespace }: ManagerSettings) {
  const areRead = sources.some(({ type }) => type === 'configMaps');
  return { configMapNamespace: areRead ? systemNamespace : undefined };
}

function classNames({ provisioners }: ManagerSettings): readonly string[] {
  return provisioners.map(({ className }) => className);
}

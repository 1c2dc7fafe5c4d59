import { extname } from 'node:path';
import { judgeInWorkers, type WorkerJudge } from '../classes/index.ts';
import type { Logger } from '../contracts/logger.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { connect } from '../platform/kube/index.ts';
import { Metrics } from '../platform/observe/index.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import {
  type Controller,
  EventRecorder,
  HealthServer,
  leaderRunnable,
  Manager,
  type Runnable,
} from '../platform/runtime/index.ts';
import { createBundleController } from './bundle-controller.ts';
import { createOwnPlaces } from './classes.ts';
import { createLeftoverReport } from './content/archives.ts';
import { createContentServer } from './content/content-server.ts';
import { createUnpackingZone } from './content/unpacking-zone.ts';
import { type ControllerParts, createDeploymentController } from './deployment-controller.ts';
import { createCrdReaderRole } from './kinds/crd-reader-role.ts';
import { watchKinds } from './kinds/kinds.ts';
import { createClockCheck, createObjectCounts } from './measurements.ts';
import type { ManagerSettings } from './settings.ts';

/**
 * Runs the reconcilers of the process's zone, with the content server and the health endpoints,
 * until the signal is aborted; finishes running reconciles first.
 * @throws Error when a part cannot start, or fails finally.
 */
export async function runReconcilers(options: ManagerSettings, signal: AbortSignal): Promise<void> {
  const { logger } = options;
  const clock = systemClock;
  const kube = connect({
    kubeconfig: options.kubeconfig,
    context: options.context,
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
    const healthServer = new HealthServer({
      bindAddress: options.healthProbeBindAddress,
      readyChecks: { ...options.readyChecks, caches: () => kinds.checkSynced() },
      logger,
    });
    manager.add(healthServer, clockCheck);
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
    const { systemNamespace: namespace, leaseName, leaderElection } = options;
    const lease = { namespace, leaseName, leaderElection, caches: kinds.reflectors };
    manager.add(leaderRunnable(ofLeader, { client, ...lease, events, metrics, clock, logger }));
    logger.info({ server: kube.server, classes: classNames(options) }, 'starting');
    await manager.run(signal);
    await events.flush(AbortSignal.timeout(2_000));
  } finally {
    life.abort(new Error('the manager stops'));
    await judge.close();
    await kube.close();
  }
}

function createControllers(
  options: ManagerSettings,
  parts: ControllerParts,
): readonly Controller[] {
  const { unpacking } = parts;
  const bundles = unpacking && createBundleController(options, parts, unpacking);
  const ofBundles = bundles === undefined ? [] : [bundles];
  if (options.zone === 'unpacking') return ofBundles;
  return [...ofBundles, createDeploymentController(options, parts, bundles)];
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const extension = extname(import.meta.url);
const judgeModule = new URL(`../apply/health/rules/judge-objects${extension}`, import.meta.url);

/** Evaluates the rules of spec.health in worker processes, until it is closed. */
export function openJudge(options: {
  readonly memory: ByteBudget;
  readonly clock: Clock;
  readonly logger: Logger;
}): WorkerJudge {
  return judgeInWorkers({ module: judgeModule, ...options });
}

function whatToWatch({ sources, systemNamespace }: ManagerSettings) {
  const areRead = sources.some(({ type }) => type === 'configMaps');
  return { configMapNamespace: areRead ? systemNamespace : undefined };
}

function classNames({ provisioners }: ManagerSettings): readonly string[] {
  return provisioners.map(({ className }) => className);
}

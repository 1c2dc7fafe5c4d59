import type { Logger } from '../../core/contracts/logger.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, type KubeClient } from '../../core/platform/kube/index.ts';
import { ControllerMetrics } from '../../core/platform/observe/index.ts';
import {
  EventRecorder,
  HealthServer,
  leaderRunnable,
  Manager,
  parseBindAddress,
} from '../../core/platform/runtime/index.ts';
import { type CatalogControllers, catalogControllers } from '../../operators/catalogs/index.ts';
import {
  type ExtensionControllers,
  extensionControllers,
} from '../../operators/extensions/index.ts';
import { operatorKinds, ServedKinds } from '../../operators/served-kinds.ts';
import type { OperatorsFlags } from '../flags/operators-flags.ts';
import { systemNamespaceOf } from '../flags/process-flags.ts';
import { processRegistryAccess } from '../registry-access.ts';
import { metricsServer } from './metrics-server.ts';

const leaseName = 'operators.rukpak.io';
const component = 'rukpak-operators';

/**
 * Serves catalogs, and installs what Operators and ClusterExtensions ask for, until the signal is
 * aborted. Begins when the API server serves their kinds.
 */
export async function runOperators(
  flags: OperatorsFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const tls = tlsFiles(flags);
  const kube = connect({
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    userAgent: component,
    logger,
  });
  try {
    const { client } = kube;
    const metrics = new ControllerMetrics();
    const shared = { client, metrics, clock: systemClock, logger };
    const events = new EventRecorder({ ...shared, component });
    const parts = { ...shared, events };
    const catalogs = await openCatalogs(flags, { ...parts, tls });
    const extensions = extensionControllers({
      ...parts,
      contents: catalogs.contents,
      resolver: catalogs.resolver,
      installDependencies: flags.installDependencies,
      forceSemverUpgradeConstraints: flags.featureGates.ForceSemverUpgradeConstraints,
    });
    const manager = managerOf(flags, { ...parts, catalogs, extensions });
    await manager.run(signal);
    await events.flush(AbortSignal.timeout(2_000));
  } finally {
    await kube.close();
  }
}

interface SharedParts {
  readonly client: KubeClient;
  readonly metrics: ControllerMetrics;
  readonly events: EventRecorder;
  readonly clock: typeof systemClock;
  readonly logger: Logger;
}

async function openCatalogs(
  flags: OperatorsFlags,
  parts: SharedParts & Pick<Parameters<typeof catalogControllers>[0], 'tls'>,
): Promise<CatalogControllers> {
  const address = parseBindAddress(flags.catalogsServerAddr);
  if (address === undefined) throw new Error('--catalogs-server-addr must name a port');
  const note = (text: string): void => parts.logger.info({}, text);
  return catalogControllers({
    ...parts,
    registry: await processRegistryAccess(flags, component, note),
    systemNamespace: systemNamespaceOf(flags),
    cacheDir: flags.cacheDir,
    externalAddress: flags.httpExternalAddress.replace(/\/+$/, ''),
    address,
    gcInterval: flags.gcInterval,
  });
}

/** In order: what serves probes and metrics, the kinds, the caches, then all that uses them. */
function managerOf(
  flags: OperatorsFlags,
  {
    catalogs,
    extensions,
    ...shared
  }: SharedParts & {
    readonly catalogs: CatalogControllers;
    readonly extensions: ExtensionControllers;
  },
): Manager {
  const { logger, metrics } = shared;
  const kinds = new ServedKinds({
    ...shared,
    resources: operatorKinds,
  });
  const manager = new Manager(logger);
  manager.add(
    new HealthServer({
      bindAddress: flags.healthProbeBindAddress,
      readyChecks: { kinds: () => kinds.check(), catalogs: () => catalogs.checkSynced() },
      logger,
    }),
    metricsServer({ bindAddress: flags.metricsBindAddress, metrics, logger }),
  );
  manager.add(kinds);
  const caches = [...catalogs.reflectors, ...extensions.caches];
  manager.add(...caches);
  manager.add(...catalogs.runnables);
  manager.add(
    leaderRunnable([catalogs.leader, ...extensions.controllers], {
      ...shared,
      namespace: systemNamespaceOf(flags),
      leaseName,
      leaderElection: flags.leaderElect,
      caches,
    }),
  );
  return manager;
}

/** @throws Error that names the missing flag */
function tlsFiles({ tlsCert, tlsKey }: OperatorsFlags) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error('--tls-cert and --tls-key need each other');
  }
  return { certFile: tlsCert, keyFile: tlsKey };
}

import type { Logger } from '../../core/contracts/logger.ts';
import { type ManagerOptions, runManager } from '../../core/run-manager.ts';
import { type ServedClasses, withServedClasses } from '../classes/served-classes.ts';
import { contentOptions, uploadOptions } from '../flags/content-server-flags.ts';
import type { CoreFlags } from '../flags/core-flags.ts';
import { certificateOptions, pruneDefaults } from '../flags/deployment-flags.ts';
import { systemNamespaceOf } from '../flags/process-flags.ts';

/** The Lease of v0.16: two processes that apply must never run at the same time. */
const leaseName = 'core.rukpak.io';
const unpackingLeaseName = 'unpack.core.rukpak.io';

/**
 * Runs the reconcilers of the built-in classes and of the flags' classes, until the signal is
 * aborted.
 */
export async function runCore(
  flags: CoreFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  await withServedClasses(flags, logger, async (classes) => {
    await runClasses(flags, { logger, classes }, signal);
  });
}

interface OpenClasses extends Pick<ManagerOptions, 'readyChecks'> {
  readonly logger: Logger;
  readonly classes: ServedClasses;
}

/** The same with classes that are open already. */
export async function runClasses(
  flags: CoreFlags,
  { logger, classes, ...more }: OpenClasses,
  signal: AbortSignal,
): Promise<void> {
  await runManager({ ...managerOptions(flags, logger), ...classes, ...more }, signal);
}

function managerOptions(flags: CoreFlags, logger: Logger): Omit<ManagerOptions, 'provisioners'> {
  return {
    zone: flags.zone,
    registries: flags,
    sourceAddresses: { allow: flags.allowSourceAddress, deny: flags.denySourceAddress },
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    systemNamespace: systemNamespaceOf(flags),
    allowUnscopedSourceSecrets: flags.allowUnscopedSourceSecrets,
    requireInstallNamespace: flags.requireServiceAccount,
    limits: {
      maxBytes: flags.maxContentBytes,
      maxEntries: flags.maxContentEntries,
      maxPathLength: flags.maxContentPathLength,
      maxDepth: flags.maxContentDepth,
      maxCompressionRatio: flags.maxContentCompressionRatio,
      timeout: flags.contentTimeout,
    },
    content: contentOptions(flags),
    uploads: uploadOptions(flags),
    certificates: certificateOptions(flags),
    crdReaderRole: flags.crdReaderRole,
    pruneDefaults: pruneDefaults(flags),
    defaultDeletionPolicy: flags.defaultDeletionPolicy,
    healthProbeBindAddress: flags.healthProbeBindAddress,
    leaseName: flags.zone === 'unpacking' ? unpackingLeaseName : leaseName,
    leaderElection: flags.leaderElect,
    workers: flags.workers,
    mindsUnserved: true,
    reportHealth: flags.featureGates.BundleDeploymentHealth,
    logger,
  };
}

import { extname } from 'node:path';
import type { Logger } from '../core/contracts/logger.ts';
import { type ManagerOptions, runManager } from '../core/run-manager.ts';
import { fetchInWorkers } from '../core/runtime/worker/fetch-in-workers.ts';
import { runInWorkers } from '../core/runtime/worker/run-in-workers.ts';
import { isSmallContent } from '../core/runtime/worker/small-content.ts';
import { createConfigMapsSource } from '../core/sources/configmaps/index.ts';
import { createHttpSource } from '../core/sources/http/index.ts';
import { createImageSource } from '../core/sources/image/index.ts';
import { builtInProvisionerModules } from '../provisioners/index.ts';
import { contentOptions } from './content-server-flags.ts';
import type { CoreFlags } from './core-flags.ts';
import { systemNamespaceOf } from './process-flags.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { registryOptions } from './registry-flags.ts';
import { uploadOptions } from './upload-flags.ts';

/** The Lease of v0.16. */
const leaseName = 'core.rukpak.io';

/** More than one, so that a git server that stalls its fetches leaves processes to others. */
const gitProcessesPerWorker = 2;

/** Runs the reconcilers of the built-in classes until the signal is aborted. */
export async function runCore(
  flags: CoreFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const modules = builtInProvisionerModules;
  const workers = await runInWorkers({ modules, inProcess: isSmallContent, logger });
  const size = flags.workers * gitProcessesPerWorker;
  const settings = { proxy: proxyFromEnvironment() };
  const git = fetchInWorkers({ module: gitModule, type: 'git', settings, size, logger });
  try {
    const options = managerOptions(flags, logger);
    const image = createImageSource(await registryOptions(flags, (text) => logger.info({}, text)));
    const sources = [image, git, createHttpSource(settings), createConfigMapsSource()];
    await runManager({ ...options, sources, provisioners: workers.provisioners }, signal);
  } finally {
    await Promise.all([workers.close(), git.close()]);
  }
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const gitModule = new URL(`../core/sources/git/index${extname(import.meta.url)}`, import.meta.url);

function managerOptions(
  flags: CoreFlags,
  logger: Logger,
): Omit<ManagerOptions, 'provisioners' | 'sources'> {
  return {
    kubeconfig: flags.kubeconfig,
    systemNamespace: systemNamespaceOf(flags),
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
    healthProbeBindAddress: flags.healthProbeBindAddress,
    leaseName: flags.leaderElect ? leaseName : undefined,
    workers: flags.workers,
    reportHealth: flags.featureGates.BundleDeploymentHealth,
    logger,
  };
}

/**
 * Runs provisioner classes in a process of their own (`rukpak-ts/manager`).
 */
import { systemClock } from './clock.ts';
import { openClasses } from './manager/defaults/classes.ts';
import { settingsOf } from './manager/defaults/settings.ts';
import { type OpenSources, openSources } from './manager/defaults/sources.ts';
import { stopSignal } from './manager/defaults/stop-signal.ts';
import { defaultMemoryBudget, defaultWorkers } from './manager/defaults/values.ts';
import type { ManagerOptions } from './manager/options.ts';
import { runReconcilers } from './manager/run-reconcilers.ts';
import { createLogger } from './observe/logger.ts';
import { ByteBudget } from './runtime/byte-budget.ts';

export type {
  CertificateOptions,
  CertificateProvider,
} from './bundle-deployment/certificates/certificate-options.ts';
export type { Logger } from './contracts/logger.ts';
export type { RegistryOptions } from './manager/defaults/registry-options.ts';
export type { ContentOptions, ManagerOptions, UploadOptions, Zone } from './manager/options.ts';
export type { AddressPolicy } from './net/address-policy.ts';
export {
  createRemoteProvisioner,
  type RemoteProvisioner,
  type RemoteProvisionerOptions,
} from './remote-provisioner/index.ts';
export { ByteBudget } from './runtime/byte-budget.ts';

const noSources: OpenSources = { sources: [], close: async () => undefined };

/**
 * Runs the two reconcilers for some classes, or that of one `zone`, with the content server and the health endpoints, until
 * the signal is aborted: at SIGINT or SIGTERM where none is given. Running reconciles are finished
 * first.
 * @throws Error where a part cannot start, or fails for good.
 */
export async function runManager(
  options: ManagerOptions,
  signal: AbortSignal = stopSignal(),
): Promise<void> {
  const { workers = defaultWorkers, logger = createLogger('info'), zone, content } = options;
  const { memory = new ByteBudget({ bytes: defaultMemoryBudget(), clock: systemClock }) } = options;
  if (zone === 'applying' && (content?.contentServers ?? []).length === 0) {
    throw new Error(
      'who applies and does not unpack needs a content server to read from: name one (content.contentServers, or --content-server)',
    );
  }
  const classes = await openClasses(options.provisioners, { memory, logger });
  try {
    const sources =
      zone === 'applying' ? noSources : await openSources({ ...options, workers, memory, logger });
    try {
      const open = { provisioners: classes.provisioners, sources: sources.sources };
      await runReconcilers(settingsOf(options, { ...open, memory, logger }), signal);
    } finally {
      await sources.close();
    }
  } finally {
    await classes.close();
  }
}

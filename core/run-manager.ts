/**
 * Runs provisioner classes in a process of their own (`rukpak-ts/manager`).
 */
import { openClasses } from './classes/index.ts';
import {
  defaultMemoryBudget,
  defaultWorkers,
  type OpenSources,
  openSources,
  runReconcilers,
  settingsOf,
} from './manager/index.ts';
import type { ManagerOptions } from './manager/options.ts';
import { createLogger } from './platform/observe/index.ts';
import { stopSignal } from './platform/runtime/index.ts';
import { ByteBudget } from './platform/runtime/queue/byte-budget.ts';

export type {
  CertificateOptions,
  CertificateProvider,
} from './bundle-deployment/certificates/certificate-options.ts';
export {
  createRemoteProvisioner,
  type RemoteProvisioner,
  type RemoteProvisionerOptions,
} from './classes/index.ts';
export type {
  ContentOptions,
  ManagerOptions,
  RegistryOptions,
  UploadOptions,
  Zone,
} from './manager/options.ts';
export type { AddressPolicy } from './platform/net/address-policy.ts';
export { ByteBudget } from './platform/runtime/queue/byte-budget.ts';

import { systemClock } from './platform/clock.ts';

export type { Logger } from './contracts/logger.ts';

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

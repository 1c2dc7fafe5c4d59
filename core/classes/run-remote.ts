import { extname } from 'node:path';
import type { Logger } from '../contracts/logger.ts';
import { systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/observe/index.ts';
import { ByteBudget } from '../platform/runtime/index.ts';
import {
  openRemoteClass,
  type RemoteClassOptions,
  type RemoteProvisioner,
} from './http/remote-provisioner.ts';
import { isSmallContent, runInWorkers } from './run-in-workers.ts';

export interface RemoteProvisionerOptions extends RemoteClassOptions {
  /**
   * Counts the memory of answers, and of the process that reads large ones; that of the manager
   * (default: a budget of its own, 1 GiB).
   */
  readonly memory?: ByteBudget;
  /** Receives what that process prints (default: JSON lines on stderr, from level info). */
  readonly logger?: Logger;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const answerReader = new URL(
  `./http/objects-of-answer${extname(import.meta.url)}`,
  import.meta.url,
);

/**
 * A class that a server provides over HTTP (docs/provisioner-http-v1.yaml). The server need not run
 * yet: core reads its description when a first object needs it. Large answers are read in a separate
 * process, so that they delay nothing else.
 * @throws Error when address or credentials are unusable
 */
export async function createRemoteProvisioner({
  memory = new ByteBudget({ bytes: 1024 ** 3, clock: systemClock }),
  logger = createLogger('info'),
  ...remote
}: RemoteProvisionerOptions): Promise<RemoteProvisioner> {
  const host = await runInWorkers({
    modules: [answerReader],
    callee: 'its answer',
    inProcess: isSmallContent,
    size: 1,
    sandboxed: true,
    memory,
    logger,
  });
  try {
    const readObjects = host.provisioners[0]?.deployment;
    if (readObjects === undefined) throw new Error(`${answerReader.href} reads no objects`);
    return await openRemoteClass(remote, { readObjects, memory, close: () => host.close() });
  } catch (error) {
    await host.close();
    throw error;
  }
}

import { extname } from 'node:path';
import type { Logger } from '../contracts/logger.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import type { ClassHost } from './class-host.ts';
import {
  createRemoteProvisioner,
  type RemoteProvisionerOptions,
} from './http/remote-provisioner.ts';
import { isSmallContent, runInWorkers } from './run-in-workers.ts';

export interface RemoteClassOptions extends Omit<RemoteProvisionerOptions, 'readObjects'> {
  /** Counts the memory of the process that reads the answers. */
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const answerReader = new URL(
  `./http/objects-of-answer${extname(import.meta.url)}`,
  import.meta.url,
);

/**
 * A class behind a URL, with a separate process for its answers, so that one server's slow answers
 * delay no other's.
 * @throws Error when address or credentials are unusable
 */
export async function runRemote({
  memory,
  logger,
  ...remote
}: RemoteClassOptions): Promise<ClassHost> {
  const reading = await runInWorkers({
    modules: [answerReader],
    inProcess: isSmallContent,
    size: 1,
    sandboxed: true,
    memory,
    logger,
  });
  const readObjects = reading.provisioners[0]?.deployment;
  try {
    if (readObjects === undefined) throw new Error(`${answerReader.href} reads no objects`);
    const provisioner = await createRemoteProvisioner({ ...remote, readObjects });
    const close = async (): Promise<void> => {
      await Promise.all([provisioner.close(), reading.close()]);
    };
    return { provisioners: [provisioner], close };
  } catch (error) {
    await reading.close();
    throw error;
  }
}

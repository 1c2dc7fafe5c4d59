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
  /** Where what the process takes that reads its answers is counted. */
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const answerReader = new URL(
  `./http/objects-of-answer${extname(import.meta.url)}`,
  import.meta.url,
);

/**
 * A class behind a URL, with a process of its own for its answers: one server's answers that are slow
 * to read hold up no other's.
 * @throws Error where address or credentials cannot be used
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

import { extname } from 'node:path';
import {
  createRemoteProvisioner,
  isSmallContent,
  runInWorkers,
  type WorkerProvisioners,
} from '../core/classes/index.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { Provisioner } from '../core/contracts/provisioner.ts';
import { proxyFromEnvironment } from '../core/platform/net/index.ts';
import type { ByteBudget } from '../core/platform/runtime/index.ts';
import {
  type ProvisionerUrlFlags,
  type RemoteClass,
  remoteClasses,
} from './provisioner-url-flags.ts';

interface OpenClass {
  readonly provisioner: Provisioner;
  close(): Promise<void>;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const answerReader = new URL(
  `../core/classes/http/objects-of-answer${extname(import.meta.url)}`,
  import.meta.url,
);

/**
 * The classes that `--provisioner-url` names; their servers need not be there yet.
 * @throws Error of one line where a flag cannot be used, or names a class that is among `served`
 */
export async function openProvisionerUrls(
  flags: ProvisionerUrlFlags,
  served: readonly string[],
  process: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<WorkerProvisioners> {
  const remotes = remoteClasses(flags);
  const twice = remotes.find(({ className }) => served.includes(className));
  if (twice !== undefined) {
    throw new Error(
      `--provisioner-url: class "${twice.className}" is served by this program itself already: rename yours`,
    );
  }
  const classes: OpenClass[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(classes.map((each) => each.close()));
  };
  try {
    for (const remote of remotes) classes.push(await open(remote, process));
  } catch (error) {
    await close();
    throw error;
  }
  return { provisioners: classes.map(({ provisioner }) => provisioner), close };
}

/** A process for each class: one server's answers that are slow to read hold up no other's. */
async function open(
  remote: RemoteClass,
  { memory, logger }: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<OpenClass> {
  const modules = [answerReader];
  const reading = await runInWorkers({
    modules,
    inProcess: isSmallContent,
    size: 1,
    sandboxed: true,
    memory,
    logger,
  });
  const readObjects = reading.provisioners[0]?.deployment;
  try {
    if (readObjects === undefined) throw new Error(`${answerReader.href} reads no objects`);
    const provisioner = await createRemoteProvisioner({
      ...remote,
      proxy: proxyFromEnvironment(),
      readObjects,
    });
    const close = async (): Promise<void> => {
      await Promise.all([provisioner.close(), reading.close()]);
    };
    return { provisioner, close };
  } catch (error) {
    await reading.close();
    throw error;
  }
}

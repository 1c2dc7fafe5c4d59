import { availableParallelism } from 'node:os';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { DeploymentHandler, Provisioner } from '../contracts/provisioner.ts';
import { errorMessage } from '../errors.ts';
import { checkObjectCount } from '../manifests/index.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { type ClassHost, checkLoaded } from './class-host.ts';
import { handlersInPool, WorkerPool } from './worker/worker-pool.ts';

export interface WorkerOptions {
  /** Modules whose default export is a provisioner. */
  readonly modules: readonly URL[];
  /** What messages call them (default: the class by its name). */
  readonly callee?: string;
  /** Number of processes (default: two), at most the number of processors. */
  readonly size?: number;
  /** Counts the memory of the processes. */
  readonly memory: ByteBudget;
  /** Limit of each process's heap and buffers, in mebibytes (default: the share of one process). */
  readonly memoryMegabytes?: number;
  /** Additional mebibytes per process, for modules with other kinds of memory. */
  readonly besidesMegabytes?: number;
  /**
   * Milliseconds that one call may run after it has a process, for modules that execute content
   * (default: until its signal is aborted).
   */
  readonly runningLimit?: number;
  /**
   * Whether the handlers may process this content in this process; for modules that certainly
   * neither loop, crash nor block (default: never).
   */
  readonly inProcess?: (files: BundleFiles) => boolean;
  /**
   * Whether the processes may only read core's own package, and neither write nor start anything
   * (default: no).
   */
  readonly sandboxed?: boolean;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/**
 * Provisioners whose handlers run in separate processes. Large content never blocks this process,
 * and a handler that crashes, loops or needs too much memory fails only its own call. Content that
 * `inProcess` accepts runs here instead, without the cost of sending it. An aborted handler has a
 * second to answer. This process loads the modules too, to learn their class names, so loading one
 * must be cheap.
 * @throws Error when a module cannot be loaded, or exports no class of this contract.
 */
export async function runInWorkers(options: WorkerOptions): Promise<ClassHost> {
  const served = await Promise.all(
    options.modules.map(async (module) => ({ module, provisioner: await load(module) })),
  );
  const pool = new WorkerPool({
    size: options.size ?? Math.min(2, availableParallelism()),
    memory: options.memory,
    memoryMegabytes: options.memoryMegabytes ?? options.memory.megabytesForProcess,
    besidesMegabytes: options.besidesMegabytes,
    runningLimit: options.runningLimit,
    sandboxed: options.sandboxed,
    clock: options.clock ?? systemClock,
    logger: options.logger,
  });
  const { inProcess = () => false } = options;
  return {
    provisioners: served.map(({ module, provisioner }) => {
      const { className, bundle, configure, deployment, inputs, uses } = provisioner;
      const { callee = `class "${className}"` } = options;
      const there = handlersInPool({ module, callee, pool });
      return {
        className,
        ...(bundle && { bundle: nearOrFar(bundle, there.bundle, inProcess) }),
        ...(configure && { configure: nearOrFar(configure, there.configure, inProcess) }),
        ...(deployment && {
          deployment: nearOrFar(bounded(deployment), there.deployment, inProcess),
        }),
        ...(inputs && { inputs: there.inputs }),
        ...(uses && { uses }),
      };
    }),
    close: () => pool.close(),
  };
}

/** Calls the handler here for accepted content, and in a worker for all other. */
function nearOrFar<O, C, R>(
  near: (files: BundleFiles, object: O, context: C) => Promise<R>,
  far: typeof near,
  inProcess: (files: BundleFiles) => boolean,
): typeof near {
  return async (files, object, context) =>
    await (inProcess(files) ? near : far)(files, object, context);
}

function bounded(deployment: DeploymentHandler): DeploymentHandler {
  return async (files, object, context) => {
    const objects = await deployment(files, object, context);
    checkObjectCount(objects.length, context.limits.maxEntries);
    return objects;
  };
}

async function load(module: URL): Promise<Provisioner> {
  const { default: provisioner } = await importModule(module);
  if (typeof provisioner?.className !== 'string') {
    throw new Error(
      `${module.href} exports no provisioner: its default export must be defineProvisioner({ className, … })`,
    );
  }
  try {
    checkLoaded(provisioner as Provisioner);
  } catch (error) {
    throw new Error(`${module.href}: ${errorMessage(error)}`, { cause: error });
  }
  return provisioner as Provisioner;
}

async function importModule(module: URL): Promise<{ readonly default?: Partial<Provisioner> }> {
  try {
    return (await import(module.href)) as { readonly default?: Partial<Provisioner> };
  } catch (error) {
    throw new Error(`cannot load ${module.href}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Measured: the slowest content of this size takes a built-in class some 20 ms (docs/adr/0016). */
const maxBytes = 16 * 1024;
const maxFiles = 32;

/**
 * First characters of YAML's anchors, tags and complex keys, which make parsing slow; rare in
 * manifests.
 */
const costly: readonly number[] = Array.from('&!?', (character) => character.charCodeAt(0));

/**
 * Every registry+v1 bundle has this file, stored below `bundle/`. A conversion may enlarge content
 * hundreds of times: each deployment gets all annotations of the CSV.
 */
const convertedFiles = ['metadata/annotations.yaml', 'bundle/metadata/annotations.yaml'];

/** Whether even hostile content can be processed without blocking the event loop. */
export function isSmallContent({ files }: BundleFiles): boolean {
  if (files.size > maxFiles || convertedFiles.some((path) => files.has(path))) return false;
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  if (bytes > maxBytes) return false;
  return ![...files.values()].some((content) => costly.some((byte) => content.includes(byte)));
}

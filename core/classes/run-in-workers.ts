import { availableParallelism } from 'node:os';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type DeploymentHandler,
  type Provisioner,
} from '../contracts/provisioner.ts';
import { errorMessage } from '../errors.ts';
import { checkObjectCount } from '../manifests/index.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { type ClassHost, checkedClass, joinedHosts } from './class-host.ts';
import { handlersInPool, WorkerPool } from './worker/worker-pool.ts';

export interface WorkerOptions {
  /** Modules whose default export is a provisioner. */
  readonly modules: readonly URL[];
  /** Processes at once (default: two), and no more than there are processors. */
  readonly size?: number;
  /** Where what the processes take is counted. */
  readonly memory: ByteBudget;
  /** Bound on the heap and buffers of each process (default: as much as is for one). */
  readonly memoryMegabytes?: number;
  /** What each may take besides, for modules with memory of another kind. */
  readonly besidesMegabytes?: number;
  /**
   * Milliseconds that one call may run once it has a process, for modules that run what content
   * says (default: as long as its signal lets it).
   */
  readonly runningLimit?: number;
  /**
   * Content that the handlers may be given in this process, for modules that are trusted not to
   * loop, crash or wait over it. Default: none.
   */
  readonly inProcess?: (files: BundleFiles) => boolean;
  /** Whether the processes may read our package alone, write nothing and start nothing (default: no). */
  readonly sandboxed?: boolean;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/**
 * Provisioners whose handlers run in processes of their own. Large content never holds up this
 * process, and a handler that crashes, loops or needs too much memory fails its own call only.
 * What `inProcess` lets through runs here instead, and is spared the way there and back.
 * An aborted handler has a second to answer. The modules are loaded here too, to learn what they
 * serve, so loading one must be cheap.
 * @throws Error where a module cannot be loaded or exports no provisioner.
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
      const there = handlersInPool({ module, callee: `class "${className}"`, pool });
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

/** Called here with content that may stay, and there with all other. */
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
  const version = (provisioner as { readonly contractVersion?: number }).contractVersion;
  // One that says nothing was made without the sdk, by core itself or a test.
  if (version !== undefined && version !== contractVersion) {
    throw new Error(
      `${module.href} is written for contract version ${version}, and this rukpak has ${contractVersion}`,
    );
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

/** Measured: the worst that was found takes a built-in class some 20 ms (docs/adr/0016). */
const maxBytes = 16 * 1024;
const maxFiles = 32;

/** What begins YAML's anchors, tags and complex keys, which make reading slow; rare in manifests. */
const costly: readonly number[] = Array.from('&!?', (character) => character.charCodeAt(0));

/**
 * Every registry+v1 bundle has it, and keeps it under `bundle/` where it is stored. A conversion
 * makes hundreds of times its size: of each deployment an object with all annotations of the CSV.
 */
const convertedFiles = ['metadata/annotations.yaml', 'bundle/metadata/annotations.yaml'];

/** Whether content, hostile or not, is read in no more time than the event loop has for it. */
export function isSmallContent({ files }: BundleFiles): boolean {
  if (files.size > maxFiles || convertedFiles.some((path) => files.has(path))) return false;
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  if (bytes > maxBytes) return false;
  return ![...files.values()].some((content) => costly.some((byte) => content.includes(byte)));
}

/**
 * Classes that are given run in this process, those that are given as modules in worker processes.
 * @throws Error of one sentence for one that is no class of this contract, and where there is none.
 */
export async function openClasses(
  given: readonly (Provisioner | URL)[],
  { memory, logger }: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<ClassHost> {
  if (given.length === 0) throw new Error('provisioners is empty: name a class to serve');
  const modules = given.filter(isModule);
  const here = given.filter(isClass);
  for (const provisioner of here) check(provisioner);
  const inProcess: ClassHost = { provisioners: here, close: async () => undefined };
  if (modules.length === 0) return inProcess;
  return joinedHosts([inProcess, await runInWorkers({ modules, memory, logger })]);
}

/** Classes that run elsewhere come as they are, without the version of their contract. */
function check(provisioner: Provisioner & Partial<DefinedProvisioner>): void {
  const { className, contractVersion: version = contractVersion, uses = [] } = provisioner;
  if (typeof className !== 'string') {
    throw new Error(
      'provisioners has an entry that is no class: make it with defineProvisioner({ className, … })',
    );
  }
  const handlers = (['bundle', 'configure', 'deployment', 'inputs'] as const).filter(
    (name) => provisioner[name] !== undefined,
  );
  checkedClass({ className, contractVersion: version, handlers, uses: [...uses] });
}

function isModule(entry: Provisioner | URL): entry is URL {
  return entry instanceof URL;
}

function isClass(entry: Provisioner | URL): entry is Provisioner {
  return !isModule(entry);
}

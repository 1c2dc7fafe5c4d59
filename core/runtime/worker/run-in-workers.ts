import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../../clock.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { Logger } from '../../contracts/logger.ts';
import type {
  BundleHandler,
  DeploymentHandler,
  InputsHandler,
  Provisioner,
} from '../../contracts/provisioner.ts';
import { errorMessage } from '../../errors.ts';
import { checkObjectCount } from '../../manifests/object-bounds.ts';
import { WorkerPool } from './worker-pool.ts';

export interface WorkerOptions {
  /** Modules whose default export is a provisioner. */
  readonly modules: readonly URL[];
  /** Processes at once; two where absent, and no more than there are processors. */
  readonly size?: number;
  /** Bound on the JavaScript heap of each process; 512 where absent. */
  readonly memoryMegabytes?: number;
  /**
   * Content that the handlers may be given in this process, for modules that are trusted not to
   * loop, crash or wait over it. None where absent.
   */
  readonly inProcess?: (files: BundleFiles) => boolean;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface WorkerProvisioners {
  readonly provisioners: readonly Provisioner[];
  /** Ends the processes at once; handlers that are running or called later reject. */
  close(): Promise<void>;
}

/**
 * Provisioners whose handlers run in processes of their own. Large content never holds up this
 * process, and a handler that crashes, loops or needs too much memory fails its own call only.
 * What `inProcess` lets through runs here instead, and is spared the way there and back.
 * An aborted handler has a second to answer. The modules are loaded here too, to learn what they
 * serve, so loading one must be cheap.
 * @throws Error where a module cannot be loaded or exports no provisioner.
 */
export async function runInWorkers(options: WorkerOptions): Promise<WorkerProvisioners> {
  const served = await Promise.all(
    options.modules.map(async (module) => ({ module, provisioner: await load(module) })),
  );
  const pool = new WorkerPool({
    size: options.size ?? Math.min(2, availableParallelism()),
    memoryMegabytes: options.memoryMegabytes ?? 512,
    clock: options.clock ?? systemClock,
    logger: options.logger,
  });
  const { inProcess = () => false } = options;
  return {
    provisioners: served.map(({ module, provisioner }) => {
      const { className, bundle, deployment, inputs, uses } = provisioner;
      const there = { module, callee: `class "${className}"`, pool, inProcess };
      return {
        className,
        ...(bundle === undefined ? {} : { bundle: bundleHandler(bundle, there) }),
        ...(deployment === undefined ? {} : { deployment: deploymentHandler(deployment, there) }),
        ...(inputs === undefined ? {} : { inputs: inputsHandler(there) }),
        ...(uses === undefined ? {} : { uses }),
      };
    }),
    close: () => pool.close(),
  };
}

interface Place {
  readonly module: URL;
  readonly callee: string;
  readonly pool: WorkerPool;
  readonly inProcess: (files: BundleFiles) => boolean;
}

function bundleHandler(here: BundleHandler, place: Place): BundleHandler {
  const { pool, inProcess, ...origin } = place;
  return async (files, object, context) => {
    if (inProcess(files)) return await here(files, object, context);
    const answer = await pool.run({ ...origin, handler: 'bundle', files, object, context });
    return answer.files() ?? files;
  };
}

function deploymentHandler(here: DeploymentHandler, place: Place): DeploymentHandler {
  const { pool, inProcess, ...origin } = place;
  return async (files, object, context) => {
    if (inProcess(files)) {
      const objects = await here(files, object, context);
      checkObjectCount(objects.length, context.limits.maxEntries);
      return objects;
    }
    const { inputs, cluster, seed } = context;
    const facts = {
      inputs,
      ...(cluster === undefined ? {} : { cluster }),
      ...(seed === undefined ? {} : { seed }),
    };
    const call = { ...origin, handler: 'deployment', files, object, facts, context } as const;
    const answer = await pool.run(call);
    return answer.objects();
  };
}

function inputsHandler({ pool, module, callee }: Place): InputsHandler {
  const files = { files: new Map(), directories: new Set<string>() };
  return async (object, context) => {
    const answer = await pool.run({ module, callee, handler: 'inputs', files, object, context });
    return answer.references();
  };
}

async function load(module: URL): Promise<Provisioner> {
  const { default: provisioner } = await importModule(module);
  if (typeof provisioner?.className !== 'string') {
    throw new Error(
      `${module.href} exports no provisioner: its default export must be defineProvisioner({ className, … })`,
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

import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../../clock.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { BundleHandler, DeploymentHandler, Provisioner } from '../../contracts/provisioner.ts';
import { errorMessage } from '../../errors.ts';
import { WorkerPool } from './worker-pool.ts';

export interface WorkerOptions {
  /** Modules whose default export is a provisioner. */
  readonly modules: readonly URL[];
  /** Processes at once; two where absent, and no more than there are processors. */
  readonly size?: number;
  /** Bound on the JavaScript heap of each process; 512 where absent. */
  readonly memoryMegabytes?: number;
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
  return {
    provisioners: served.map(({ module, provisioner: { className, bundle, deployment } }) => {
      const origin = { module, callee: `class "${className}"` };
      return {
        className,
        ...(bundle === undefined ? {} : { bundle: bundleHandler(pool, origin) }),
        ...(deployment === undefined ? {} : { deployment: deploymentHandler(pool, origin) }),
      };
    }),
    close: () => pool.close(),
  };
}

interface Origin {
  readonly module: URL;
  readonly callee: string;
}

function bundleHandler(pool: WorkerPool, origin: Origin): BundleHandler {
  return async (files, object, context) => {
    const answer = await pool.run({ ...origin, handler: 'bundle', files, object, context });
    return answer.files() ?? files;
  };
}

function deploymentHandler(pool: WorkerPool, origin: Origin): DeploymentHandler {
  return async (files, object, context) => {
    const answer = await pool.run({ ...origin, handler: 'deployment', files, object, context });
    return answer.objects();
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

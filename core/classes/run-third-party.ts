import { availableParallelism } from 'node:os';
import { defaultLimits } from '../content/index.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { type ByteBudget, withTimeLimit } from '../platform/runtime/index.ts';
import { type ClassDescription, type ClassHost, checkedClass } from './class-host.ts';
import { noFiles } from './worker/frames.ts';
import { handlersInPool, WorkerPool } from './worker/worker-pool.ts';

export interface ThirdPartyOptions {
  /** Module whose default export is the class. */
  readonly module: URL;
  /** Folders and files that it may read: its own, and those of the packages that it imports. */
  readonly readable: readonly string[];
  /** Bound on what each process needs for content and objects. */
  readonly memoryMegabytes: number;
  /** Where it is counted. */
  readonly memory: ByteBudget;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/** Processes of one class, and so how many of its objects can be worked on at once. */
export const processesPerClass = Math.min(2, availableParallelism());

/** Milliseconds for a process to start, at its low priority, and for the module to be loaded. */
const loadingLimit = 120_000;

/**
 * A class that we did not write. Its module is loaded in confined processes of its own alone: what
 * it does there, at its top level too, is its own affair.
 * @throws Error in one sentence where it cannot be loaded, or is no class of this contract.
 */
export async function runThirdParty(options: ThirdPartyOptions): Promise<ClassHost> {
  const { module, readable, memoryMegabytes, memory, clock = systemClock, logger } = options;
  const pool = new WorkerPool({
    size: processesPerClass,
    memoryMegabytes,
    memory,
    confinement: { readable },
    clock,
    logger,
  });
  try {
    const description = await describe(pool, module, logger);
    const { className, uses = [] } = checkedClass(description);
    const there = handlersInPool({ module, callee: `class "${className}"`, pool });
    const has = (name: keyof typeof there): boolean => description.handlers.includes(name);
    const provisioner: Provisioner = {
      className,
      ...(uses.length > 0 ? { uses } : {}),
      ...(has('bundle') ? { bundle: there.bundle } : {}),
      ...(has('configure') ? { configure: there.configure } : {}),
      ...(has('deployment') ? { deployment: there.deployment } : {}),
      ...(has('inputs') ? { inputs: there.inputs } : {}),
    };
    return { provisioners: [provisioner], close: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

async function describe(pool: WorkerPool, module: URL, logger: Logger): Promise<ClassDescription> {
  const call = {
    callee: 'its module',
    module,
    handler: 'describe',
    files: noFiles,
    object: {},
  } as const;
  const signal = new AbortController().signal;
  const { description } = await withTimeLimit(
    (signal) => pool.run({ ...call, context: { signal, logger, limits: defaultLimits } }),
    { limit: loadingLimit, signal, work: 'loading it' },
  );
  if (description === undefined) throw new Error('its module does not say what it is');
  return description;
}

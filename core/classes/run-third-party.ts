import { availableParallelism } from 'node:os';
import { defaultLimits } from '../content/index.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { type ByteBudget, withTimeLimit } from '../platform/runtime/index.ts';
import { type ClassDescription, type ClassHost, checkedClass } from './class-host.ts';
import { noFiles } from './worker/protocol/frames.ts';
import { handlersInPool, WorkerPool } from './worker/worker-pool.ts';

export interface ThirdPartyOptions {
  /** Module whose default export is the class. */
  readonly module: URL;
  /** Folders and files that it may read: its own, and those of packages that it imports. */
  readonly readable: readonly string[];
  /** Mebibytes of each process for content and objects. */
  readonly memoryMegabytes: number;
  /** Counts that memory. */
  readonly memory: ByteBudget;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/** Number of processes per class, and so of its objects that can be processed at once. */
export const processesPerClass = Math.min(2, availableParallelism());

/** Milliseconds to start a process, at its low priority, and to load the module. */
const loadingLimit = 120_000;

/**
 * A third-party class. Only its own confined processes load its module, so that its top-level code
 * runs there too.
 * @throws Error in one sentence when it cannot be loaded, or is not a class of this contract.
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

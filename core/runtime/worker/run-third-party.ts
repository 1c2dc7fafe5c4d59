import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../../clock.ts';
import { defaultLimits } from '../../content/limits.ts';
import type { Logger } from '../../contracts/logger.ts';
import { contractVersion, type Provisioner } from '../../contracts/provisioner.ts';
import { withTimeLimit } from '../time-limit.ts';
import { handlersInPool } from './handlers-in-pool.ts';
import type { Description } from './messages.ts';
import { WorkerPool } from './worker-pool.ts';

export interface ThirdPartyOptions {
  /** Module whose default export is the class. */
  readonly module: URL;
  /** Folders and files that it may read: its own, and those of the packages that it imports. */
  readonly readable: readonly string[];
  /** Bound on what each process needs for content and objects. */
  readonly memoryMegabytes: number;
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface ThirdPartyClass {
  readonly provisioner: Provisioner;
  /** Ends its processes at once. */
  close(): Promise<void>;
}

/** Processes of one class, and so how many of its objects can be worked on at once. */
export const processesPerClass = Math.min(2, availableParallelism());

/** Milliseconds for a process to start, and for the module to be loaded. */
const loadingLimit = 30_000;

/**
 * A class that we did not write. Its module is loaded in confined processes of its own alone: what
 * it does there, at its top level too, is its own affair.
 * @throws Error in one sentence where it cannot be loaded, or is no class of this contract.
 */
export async function runThirdParty(options: ThirdPartyOptions): Promise<ThirdPartyClass> {
  const { module, readable, memoryMegabytes, clock = systemClock, logger } = options;
  const pool = new WorkerPool({
    size: processesPerClass,
    memoryMegabytes,
    confinement: { readable },
    clock,
    logger,
  });
  try {
    const description = await describe(pool, module, logger);
    const provisioner = checked(description);
    const { className, uses = [] } = provisioner;
    const there = handlersInPool({ module, callee: `class "${className}"`, pool });
    const served = description.handlers.map((name) => [name, there[name as keyof typeof there]]);
    return {
      provisioner: { className, uses, ...(Object.fromEntries(served) as Partial<typeof there>) },
      close: () => pool.close(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

async function describe(pool: WorkerPool, module: URL, logger: Logger): Promise<Description> {
  const files = { files: new Map(), directories: new Set<string>() };
  const call = { callee: 'its module', module, handler: 'describe', files, object: {} } as const;
  const signal = new AbortController().signal;
  const { description } = await withTimeLimit(
    (signal) => pool.run({ ...call, context: { signal, logger, limits: defaultLimits } }),
    { limit: loadingLimit, signal, work: 'loading it' },
  );
  if (description === undefined) throw new Error('its module does not say what it is');
  return description;
}

const longestName = 63;

function checked({
  className,
  contractVersion: version,
  handlers,
  uses,
}: Description): Provisioner {
  const fix = 'its default export must be defineProvisioner({ className, … })';
  if (className === undefined) throw new Error(`it exports no provisioner: ${fix}`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(className) || className.length > longestName) {
    throw new Error(
      `its className "${className.slice(0, longestName)}" is none: use at most ${longestName} of a-z, 0-9 and "-", with neither end a "-"`,
    );
  }
  if (version === undefined) {
    throw new Error(`class "${className}" does not say for which contract it is written: ${fix}`);
  }
  if (version !== contractVersion) {
    throw new Error(
      `class "${className}" is written for contract version ${version}, and this rukpak has ${contractVersion}: use an sdk of its release`,
    );
  }
  if (!handlers.some((name) => name !== 'inputs')) {
    throw new Error(`class "${className}" has neither a bundle nor a deployment handler`);
  }
  const odd = uses.find((use) => use !== 'cluster' && use !== 'seed');
  if (odd !== undefined) {
    throw new Error(
      `class "${className}" uses "${odd.slice(0, 50)}": there are "cluster" and "seed"`,
    );
  }
  return { className, uses: uses as readonly ('cluster' | 'seed')[] };
}

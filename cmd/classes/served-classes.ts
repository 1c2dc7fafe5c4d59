import {
  type ClassHost,
  isSmallContent,
  joinedHosts,
  processesPerClass,
  runInWorkers,
} from '../../core/classes/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import type { Provisioner } from '../../core/contracts/provisioner.ts';
import { defaultMemoryBudget } from '../../core/manager/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { ByteBudget } from '../../core/platform/runtime/index.ts';
import { builtInProvisionerModules, chartProvisionerModules } from '../../provisioners/index.ts';
import type { CoreFlags } from '../flags/core-flags.ts';
import { openProvisioners } from './provisioner-classes.ts';
import { openProvisionerUrls } from './provisioner-url-classes.ts';

export interface ServedClasses {
  /** Budget for the memory of their processes, together with all content. */
  readonly memory: ByteBudget;
  readonly provisioners: readonly Provisioner[];
  /** Number of workers for classes that may be slow, so that they do not delay other classes. */
  readonly ownWorkers: ReadonlyMap<string, number>;
}

/**
 * Runs `work` with the built-in classes and those of the flags; ends their processes afterwards.
 * @throws Error of one line when a flag names a class that cannot be served.
 */
export async function withServedClasses(
  flags: CoreFlags,
  logger: Logger,
  run: (classes: ServedClasses) => Promise<void>,
): Promise<void> {
  const open: ClassHost[] = [];
  const memory = memoryBudget(flags);
  try {
    // The applying zone must not read content itself, however small.
    const here = flags.zone !== 'applying';
    const builtIn = await runBuiltInProvisioners({ memory, here, logger });
    open.push(builtIn);
    const remote = await openProvisionerUrls(flags, namesOf(builtIn), { memory, logger });
    open.push(remote);
    const served = open.flatMap(namesOf);
    const others = await openProvisioners(flags, served, { memory, logger });
    open.push(others);
    const ownWorkers = new Map([
      ...[...builtIn.slow, ...namesOf(remote)].map((name) => [name, flags.workers] as const),
      // More deployments could not be reconciled at once anyway.
      ...namesOf(others).map((name) => [name, processesPerClass] as const),
    ]);
    await run({ memory, provisioners: joinedHosts(open).provisioners, ownWorkers });
  } finally {
    await joinedHosts(open).close();
  }
}

const mebibyte = 1024 * 1024;

function memoryBudget({ memoryBudget: megabytes }: CoreFlags): ByteBudget {
  const bytes = megabytes === undefined ? defaultMemoryBudget() : megabytes * mebibyte;
  return new ByteBudget({ bytes, clock: systemClock });
}

function namesOf({ provisioners }: ClassHost): readonly string[] {
  return provisioners.map(({ className }) => className);
}

interface BuiltInProvisioners extends ClassHost {
  /** Classes that execute content, whose templates may run until the time limit. */
  readonly slow: readonly string[];
}

interface BuiltInOptions {
  readonly memory: ByteBudget;
  /** Whether this process itself reads small content of core's classes. */
  readonly here: boolean;
  readonly logger: Logger;
}

/**
 * Milliseconds: a chart takes one or two seconds at most, and two endless ones make all others
 * wait.
 */
const chartLimit = 30_000;

/**
 * Mebibytes for Helm's compiled engine, which limits its own memory, and for the process around it.
 */
const engineMegabytes = 768;

/**
 * The classes of the stock manager. Charts have separate processes, which end after a while without
 * charts, so that the processes of other classes do not load Helm's engine.
 */
export async function runBuiltInProvisioners({
  memory,
  here,
  logger,
}: BuiltInOptions): Promise<BuiltInProvisioners> {
  const shared = { sandboxed: true, memory, logger };
  const inProcess = here ? { inProcess: isSmallContent } : {};
  const [quick, charts] = await Promise.all([
    runInWorkers({ ...shared, modules: builtInProvisionerModules, ...inProcess }),
    runInWorkers({
      ...shared,
      modules: chartProvisionerModules,
      runningLimit: chartLimit,
      besidesMegabytes: engineMegabytes,
    }),
  ]);
  return {
    ...joinedHosts([quick, charts]),
    slow: charts.provisioners.map(({ className }) => className),
  };
}

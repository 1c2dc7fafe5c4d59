import {
  type ClassHost,
  isSmallContent,
  joinedHosts,
  processesPerClass,
  runInWorkers,
} from '../core/classes/index.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { Provisioner } from '../core/contracts/provisioner.ts';
import { defaultMemoryBudget } from '../core/manager/index.ts';
import { systemClock } from '../core/platform/clock.ts';
import { ByteBudget } from '../core/platform/runtime/index.ts';
import { builtInProvisionerModules, chartProvisionerModules } from '../provisioners/index.ts';
import type { CoreFlags } from './core-flags.ts';
import { openProvisioners } from './provisioner-classes.ts';
import { openProvisionerUrls } from './provisioner-url-classes.ts';

export interface ServedClasses {
  /** Where what their processes take is counted, with all content. */
  readonly memory: ByteBudget;
  readonly provisioners: readonly Provisioner[];
  /** Of those that may take their time: that holds up no other class. */
  readonly ownWorkers: ReadonlyMap<string, number>;
}

/**
 * Runs something with the built-in classes and those that flags name; ends their processes after it.
 * @throws Error of one line where a flag names none that can be served.
 */
export async function withServedClasses(
  flags: CoreFlags,
  logger: Logger,
  run: (classes: ServedClasses) => Promise<void>,
): Promise<void> {
  const open: ClassHost[] = [];
  const memory = memoryBudget(flags);
  try {
    // Who installs reads no content itself, however small.
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
      // More could not be worked on anyway.
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
  /** Classes that run what their content says: a template may go on for as long as it may. */
  readonly slow: readonly string[];
}

interface BuiltInOptions {
  readonly memory: ByteBudget;
  /** Whether small content of core's classes is read in this very process. */
  readonly here: boolean;
  readonly logger: Logger;
}

/**
 * Milliseconds: a chart takes one or two seconds at most, and while two take forever all others wait.
 */
const chartLimit = 30_000;

/** Of Helm's engine, which bounds its own memory, compiled, and of the process around it. */
const engineMegabytes = 768;

/**
 * The classes of the stock manager. Charts have processes of their own, which end when there has
 * been none for a while: those of the other classes need not carry Helm's engine.
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

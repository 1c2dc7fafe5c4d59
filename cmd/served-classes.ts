import { type ClassHost, joinedHosts, processesPerClass } from '../core/classes/index.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { Provisioner } from '../core/contracts/provisioner.ts';
import { defaultMemoryBudget } from '../core/manager/index.ts';
import { systemClock } from '../core/platform/clock.ts';
import { ByteBudget } from '../core/platform/runtime/index.ts';
import { runBuiltInProvisioners } from './built-in-provisioners.ts';
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

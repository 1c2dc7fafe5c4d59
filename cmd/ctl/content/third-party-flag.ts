import { constants } from 'node:os';
import type { Command } from 'commander';
import type { Provisioner } from '../../../core/contracts/provisioner.ts';
import { TerminalError } from '../../../core/errors.ts';
import { builtInClasses } from '../../../provisioners/class-of-content.ts';
import { listFlag } from '../../flags/flag-values.ts';
import { warningLogger } from '../output/loggers.ts';

export interface ThirdPartyFlags {
  /** Paths or package names. */
  readonly provisioner: readonly string[];
}

export function addThirdPartyFlag(command: Command): Command {
  return command.addOption(
    listFlag(
      '--provisioner <path|package>',
      'TypeScript or JavaScript module of a provisioner class, run in worker processes as by rukpak core',
      (value: string, values: readonly string[]) => [...values, value],
    ),
  );
}

/** Mebibytes, as the default of `rukpak core`. */
const memoryOfClass = 256;

/**
 * Runs `work` with the classes that the flag names, and ends their processes afterwards.
 * @throws Error of one line that names the flag, when a class cannot be loaded.
 */
export async function withThirdParties<T>(
  { provisioner }: ThirdPartyFlags,
  work: (classes: readonly Provisioner[]) => Promise<T>,
): Promise<T> {
  if (provisioner.length === 0) return await work([]);
  const [{ openProvisioners }, { defaultMemoryBudget }, { systemClock }, { ByteBudget }] =
    await Promise.all([
      import('../../classes/provisioner-classes.ts'),
      import('../../../core/manager/index.ts'),
      import('../../../core/platform/clock.ts'),
      import('../../../core/platform/runtime/index.ts'),
    ]);
  const memory = new ByteBudget({ bytes: defaultMemoryBudget(), clock: systemClock });
  const flags = { provisioner, provisionerMemory: memoryOfClass };
  using _ended = endWithSignals();
  const opened = await openProvisioners(flags, builtInClasses, { memory, logger: warningLogger });
  try {
    return await work(opened.provisioners);
  } finally {
    await opened.close();
  }
}

/**
 * Ends this process at a signal as the default does, but with the handlers of its exit, which end the
 * processes of classes: one in an endless loop would not notice that this one has gone.
 */
function endWithSignals(): Disposable {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (name: (typeof names)[number]): never => process.exit(128 + constants.signals[name]);
  for (const name of names) process.on(name, end);
  return {
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, end);
    },
  };
}

/**
 * The third party's class to use: the named one, or the only one; undefined for a built-in class.
 */
export function chosenClass(
  classes: readonly Provisioner[],
  className: string | undefined,
): Provisioner | undefined {
  if (className !== undefined) return classes.find((each) => each.className === className);
  if (classes.length < 2) return classes[0];
  const names = classes.map((each) => each.className).join(', ');
  throw new TerminalError(`name the class of the bundle with --class, one of ${names}`);
}

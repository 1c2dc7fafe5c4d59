import { Command } from 'commander';

/** A command of a program, as far as it is known before its code is loaded. */
export interface CommandRow {
  /** As the list of commands shows it: name, alias, `[options]` where it takes any, arguments. */
  readonly usage: string;
  readonly summary: string;
  /** Keeps the command out of the list. */
  readonly hidden?: true;
  readonly load: () => Promise<Command>;
}

/** Commands whose arguments name another command of the program. */
const aboutOthers: ReadonlySet<string> = new Set(['help', '__complete']);

/**
 * Adds the commands of the table to the program. Only the code of the command that the arguments
 * name is loaded; name and summary of the others are enough for the list of commands, suggestions
 * and completion.
 */
export async function addCommands(
  program: Command,
  rows: readonly CommandRow[],
  args: readonly string[],
): Promise<Command> {
  const named = namedCommands(args);
  const usages = new Map<string, string>();
  for (const row of rows) {
    const { name, alias } = namesOf(row);
    const isNamed = named.some((word) => word === name || word === alias);
    const command = isNamed ? await row.load() : new Command(name);
    if (alias !== undefined && !isNamed) command.alias(alias);
    program.addCommand(command.description(row.summary), { hidden: row.hidden === true });
    usages.set(name, row.usage);
  }
  return program.configureHelp({
    subcommandTerm: (command) => usages.get(command.name()) ?? command.name(),
  });
}

/** The first word, and the one after it where the first is a command about others. */
function namedCommands(args: readonly string[]): readonly string[] {
  const words = args.filter((arg) => !arg.startsWith('-'));
  return words.slice(0, aboutOthers.has(words[0] ?? '') ? 2 : 1);
}

function namesOf({ usage }: CommandRow): { readonly name: string; readonly alias?: string } {
  const [name = '', alias] = (usage.split(' ')[0] ?? '').split('|');
  return alias === undefined ? { name } : { name, alias };
}

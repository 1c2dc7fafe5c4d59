import { Command } from 'commander';

/** A command of a program, as far as it is known before its code is loaded. */
export interface CommandRow {
  /** As the list of commands shows it: name, alias, `[options]` where it takes any, arguments. */
  readonly usage: string;
  readonly summary: string;
  /** Keeps the command out of the list. */
  readonly hidden?: true;
  /** Given the arguments after its name: a command that has commands itself loads the named one. */
  readonly load: (args: readonly string[]) => Promise<Command>;
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
  const named = namedCommand(args);
  const usages = new Map<string, string>();
  for (const row of rows) {
    const { name, alias } = namesOf(row);
    const after = named.get(name) ?? (alias === undefined ? undefined : named.get(alias));
    const isNamed = after !== undefined;
    const command = isNamed ? await row.load(after) : new Command(name);
    if (alias !== undefined && !isNamed) command.alias(alias);
    program.addCommand(command.description(row.summary), { hidden: row.hidden === true });
    usages.set(name, row.usage);
  }
  return program.configureHelp({
    subcommandTerm: (command) => usages.get(command.name()) ?? command.name(),
  });
}

/**
 * The first word, and the one after it where the first is a command about others; each with what
 * comes after it.
 */
function namedCommand(args: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  if (first < 0) return new Map();
  const name = args[first] ?? '';
  const after = args.slice(first + 1);
  const named: [string, readonly string[]][] = [[name, after]];
  return new Map(aboutOthers.has(name) ? [...named, ...namedCommand(after)] : named);
}

function namesOf({ usage }: CommandRow): { readonly name: string; readonly alias?: string } {
  const [name = '', alias] = (usage.split(' ')[0] ?? '').split('|');
  return alias === undefined ? { name } : { name, alias };
}

import { Command } from 'commander';
import { describeHelpFlag, helpFlagText } from './help-command.ts';

/** Name and summary of a command, and how to load its code. */
export interface CommandRow {
  /** The command's line in `--help`: name, alias, `[options]` if it takes any, arguments. */
  readonly usage: string;
  readonly summary: string;
  /** Omits the command from `--help`. */
  readonly hidden?: true;
  /**
   * `args` are the arguments after its name: a command with subcommands loads only the named one.
   */
  readonly load: (args: readonly string[]) => Promise<Command>;
}

/** Commands whose first argument names another command. */
const namingAnother: ReadonlySet<string> = new Set(['help', '__complete']);

/**
 * Adds the commands of the table to the program, and loads the code of the command that the
 * arguments name. Help, suggestions and completion need only the names and summaries of the others.
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
    if (row.summary !== '') describeHelpFlag(command);
    program.addCommand(command.description(row.summary), { hidden: row.hidden === true });
    usages.set(name, row.usage);
  }
  return program.helpOption('-h, --help', helpFlagText).configureHelp({
    subcommandTerm: (command) => usages.get(command.name()) ?? command.name(),
  });
}

/** The first word, and after `help` and `__complete` also the second; each with the words after it. */
function namedCommand(args: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  if (first < 0) return new Map();
  const name = args[first] ?? '';
  const after = args.slice(first + 1);
  const named: [string, readonly string[]][] = [[name, after]];
  return new Map(namingAnother.has(name) ? [...named, ...namedCommand(after)] : named);
}

function namesOf({ usage }: CommandRow): { readonly name: string; readonly alias?: string } {
  const [name = '', alias] = (usage.split(' ')[0] ?? '').split('|');
  return alias === undefined ? { name } : { name, alias };
}

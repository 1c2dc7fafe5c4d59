import { Command } from 'commander';
import { addCommands, type CommandRow } from '../../command-table.ts';
import { helpCommand } from '../../help-command.ts';

/** The commands of `rukpakctl catalog`, in the order of `--help`. */
export const catalogCommands: readonly CommandRow[] = [
  {
    usage: 'help [command...]',
    summary: 'Show the help of a command',
    load: async () => helpCommand(),
  },
];

/** `rukpakctl catalog`: of its commands, the one that the arguments name is loaded. */
export async function catalogCommand(args: readonly string[]): Promise<Command> {
  const group = new Command('catalog').description(
    'Read, validate, write, compare and serve file-based catalogs',
  );
  return await addCommands(group, catalogCommands, args);
}

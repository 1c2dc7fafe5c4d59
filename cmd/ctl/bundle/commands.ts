import { Command } from 'commander';
import { addCommands, type CommandRow } from '../../command-table.ts';
import { helpCommand } from '../../help-command.ts';

/** The commands of `rukpakctl bundle`, in the order of `--help`. */
export const bundleCommands: readonly CommandRow[] = [
  {
    usage: 'validate [options] <bundle>',
    summary: 'say everything that is wrong with a bundle: the same as rukpakctl validate',
    load: async () => (await import('../validate.ts')).validateCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'show the help of a command',
    load: async () => helpCommand(),
  },
];

/** `rukpakctl bundle`: of its commands, the one that the arguments name is loaded. */
export async function bundleCommand(args: readonly string[]): Promise<Command> {
  const group = new Command('bundle').description('make, check and read bundles and their images');
  return await addCommands(group, bundleCommands, args);
}

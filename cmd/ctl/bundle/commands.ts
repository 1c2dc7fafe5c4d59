import { Command } from 'commander';
import { addCommands, type CommandRow } from '../../command-table.ts';
import { helpCommand } from '../../help-command.ts';

/** The commands of `rukpakctl bundle`, in the order of `--help`. */
export const bundleCommands: readonly CommandRow[] = [
  {
    usage: 'generate [options] <directory>',
    summary: 'Write the metadata of a bundle, and a Dockerfile for its image',
    load: async () => (await import('./generate.ts')).generateCommand(),
  },
  {
    usage: 'build [options] <directory>',
    summary: 'Build the image of a bundle, without a container engine',
    load: async () => (await import('../images/build.ts')).buildCommand('bundle'),
  },
  {
    usage: 'push [options] <from> <to>',
    summary: 'Push the image of a bundle to a registry or an OCI layout',
    load: async () => (await import('../images/push.ts')).pushCommand(),
  },
  {
    usage: 'unpack [options] <image> <directory>',
    summary: 'Unpack the image of a bundle into a directory',
    load: async () => (await import('../images/unpack.ts')).unpackCommand(),
  },
  {
    usage: 'validate [options] <bundle>',
    summary: 'Validate a bundle offline and report all problems, as rukpakctl validate does',
    load: async () => (await import('../validate.ts')).validateCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'Show the help of a command',
    load: async () => helpCommand(),
  },
];

/** `rukpakctl bundle`: loads only the subcommand that the arguments name. */
export async function bundleCommand(args: readonly string[]): Promise<Command> {
  const group = new Command('bundle').description(
    'Make, validate and read bundles and their images',
  );
  return await addCommands(group, bundleCommands, args);
}

import { Command } from 'commander';
import { addCommands, type CommandRow } from '../../command-table.ts';
import { helpCommand } from '../../help-command.ts';

/** The commands of `rukpakctl operator`, in the order of `--help`. */
export const operatorCommands: readonly CommandRow[] = [
  {
    usage: 'search [options] [word]',
    summary: 'List the packages of the cluster’s catalogs',
    load: async () => (await import('./search.ts')).searchCommand(),
  },
  {
    usage: 'info [options] <packageName>',
    summary: 'Show what each catalog has of a package',
    load: async () => (await import('./info.ts')).infoCommand(),
  },
  {
    usage: 'install [options] <packageName>',
    summary: 'Install a package: create an Operator or a ClusterExtension',
    load: async () => (await import('./install.ts')).installCommand(),
  },
  {
    usage: 'list [options]',
    summary: 'List Operators and ClusterExtensions',
    load: async () => (await import('./list.ts')).listCommand(),
  },
  {
    usage: 'upgrade [options] <operatorName>',
    summary: 'Change version or channel of an Operator or ClusterExtension',
    load: async () => (await import('./upgrade.ts')).upgradeCommand(),
  },
  {
    usage: 'path [options] <operatorName>',
    summary: 'Show the upgrades that lead to a version, or why there are none',
    load: async () => (await import('./path.ts')).pathCommand(),
  },
  {
    usage: 'explain [options] <operatorName>',
    summary: 'Explain why a bundle is selected, or why none is',
    load: async () => (await import('./explain.ts')).explainCommand(),
  },
  {
    usage: 'uninstall [options] <operatorName>',
    summary: 'Delete an Operator or ClusterExtension and its objects, after a confirmation',
    load: async () => (await import('./uninstall.ts')).uninstallCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'Show the help of a command',
    load: async () => helpCommand(),
  },
];

/** `rukpakctl operator`: loads only the subcommand that the arguments name. */
export async function operatorCommand(args: readonly string[]): Promise<Command> {
  const group = new Command('operator').description(
    'Find, install, upgrade and explain operators of the cluster’s catalogs',
  );
  return await addCommands(group, operatorCommands, args);
}

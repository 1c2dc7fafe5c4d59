// Must be the first import, because the other modules produce garbage while they load.
import '../../favour-memory.ts';
import { Command } from 'commander';
import { addCommands, type CommandRow } from '../../command-table.ts';
import { helpCommand } from '../../help-command.ts';

/** The commands of `rukpakctl catalog`, in the order of `--help`. */
export const catalogCommands: readonly CommandRow[] = [
  {
    usage: 'render [options] <reference...>',
    summary: 'Print the blobs of catalogs and bundles',
    load: async () => (await import('./render.ts')).renderCommand(),
  },
  {
    usage: 'validate [options] <catalog...>',
    summary: 'Validate catalogs as opm does',
    load: async () => (await import('./inspect/validate.ts')).validateCommand(),
  },
  {
    usage: 'list [options] <catalog> [package]',
    summary: 'List the packages, channels or bundles of a catalog',
    load: async () => (await import('./inspect/list.ts')).listCommand(),
  },
  {
    usage: 'graph [options] <package> <catalog>',
    summary: 'Show the upgrade graph of a package',
    load: async () => (await import('./inspect/graph.ts')).graphCommand(),
  },
  {
    usage: 'serve [options] <place...>',
    summary: 'Serve catalogs over HTTP as catalogd does, and over gRPC as opm does',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  {
    usage: 'lint [options] <catalog>',
    summary: 'Report likely mistakes in a catalog that opm accepts',
    load: async () => await (await import('./inspect/lint.ts')).lintCommand(),
  },
  {
    usage: 'diff [options] <old> <new>',
    summary: 'Compare two catalogs, and list bundles that lose their upgrade path',
    load: async () => (await import('./inspect/diff.ts')).diffCommand(),
  },
  {
    usage: 'prune [options] <catalog>',
    summary: 'Keep a part of a catalog, with its upgrade paths and dependencies',
    load: async () => (await import('./prune.ts')).pruneCommand(),
  },
  {
    usage: 'template [options] <file>',
    summary: 'Print the catalog of a template, or a template of a catalog',
    load: async () => (await import('./template.ts')).templateCommand(),
  },
  {
    usage: 'migrate [options] <reference> <directory>',
    summary: 'Write a catalog as files, one for each package',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  {
    usage: 'build [options] <directory>',
    summary: 'Build the image of a catalog, without a container engine',
    load: async () => (await import('../images/build.ts')).buildCommand('catalog'),
  },
  {
    usage: 'push [options] <from> <to>',
    summary: 'Push the image of a catalog to a registry or an OCI layout',
    load: async () => (await import('../images/push.ts')).pushCommand(),
  },
  {
    usage: 'init [options] <package>',
    summary: 'Print the first blob of a package',
    load: async () => (await import('./init.ts')).initCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'Show the help of a command',
    load: async () => helpCommand(),
  },
];

/** `rukpakctl catalog`: loads only the subcommand that the arguments name. */
export async function catalogCommand(args: readonly string[]): Promise<Command> {
  const group = new Command('catalog').description(
    'Read, validate, write, compare and serve file-based catalogs',
  );
  return await addCommands(group, catalogCommands, args);
}

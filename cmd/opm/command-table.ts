import { convertTemplateRows } from './catalog/convert-template.ts';
import type { CobraRow } from './cobra/command.ts';
import { noArgs } from './cobra/positional-args.ts';
import { completionRow } from './completion.ts';
import { replaced } from './replaced.ts';

/** opm's commands, one file each. */
export const commandTable: readonly CobraRow[] = [
  {
    name: 'init',
    short: 'Generate an olm.package declarative config blob',
    load: async () => (await import('./catalog/init.ts')).initCommand,
  },
  {
    name: 'version',
    short: 'Print the opm version',
    load: async () => (await import('./version.ts')).versionCommand,
  },
  {
    name: 'generate',
    short: 'Generate various artifacts for file-based catalogs',
    load: async () => ({ use: 'generate' }),
    commands: [
      {
        name: 'dockerfile',
        short: 'Generate a Dockerfile for a file-based catalog',
        load: async () =>
          (await import('./catalog/generate-dockerfile.ts')).generateDockerfileCommand,
      },
    ],
  },
  {
    name: 'render',
    short: 'Generate a stream of file-based catalog objects from catalogs and bundles',
    load: async () =>
      (await import('./catalog/render.ts')).renderCommand(process.env['HELP_ALPHA'] === 'true'),
  },
  {
    name: 'validate',
    short: 'Validate the declarative index config',
    load: async () => (await import('./catalog/validate.ts')).validateCommand,
  },
  {
    name: 'migrate',
    short: 'Migrate a sqlite-based index image or database file to a file-based catalog',
    load: async () => (await import('./catalog/migrate.ts')).migrateCommand,
  },
  {
    name: 'serve',
    short: 'serve declarative configs',
    load: async () => (await import('./catalog/serve.ts')).serveCommand,
  },
  completionRow,
  replaced(
    'index',
    'SQLite indexes are deprecated: convert one with "opm migrate", and build a catalog image with "rukpakctl catalog build"',
  ),
  replaced(
    'registry',
    'SQLite databases are deprecated: convert one with "opm migrate", and serve the result with "opm serve"',
  ),
];

/** Subcommands of `opm alpha bundle`. */
const bundleCommands: readonly CobraRow[] = [
  {
    name: 'build',
    short: 'Build operator bundle image',
    load: async () => (await import('./bundle/bundle-build.ts')).bundleBuildCommand,
  },
  {
    name: 'generate',
    short: 'Generate operator bundle metadata and Dockerfile',
    load: async () => (await import('./bundle/bundle-generate.ts')).bundleGenerateCommand,
  },
  {
    name: 'unpack',
    short: 'Unpacks the content of an operator bundle',
    load: async () => (await import('./bundle/bundle-unpack.ts')).bundleUnpackCommand,
  },
  {
    name: 'validate',
    short: 'Validate bundle image',
    // cobra hides deprecated commands.
    hidden: true,
    load: async () => (await import('./bundle/bundle-validate.ts')).bundleValidateCommand,
  },
  {
    name: 'extract',
    short: 'Extracts the data in a bundle directory via ConfigMap',
    load: async () => (await import('./bundle/bundle-extract.ts')).bundleExtractCommand,
  },
];

/** Subcommands of `opm alpha list`. */
const listCommands: readonly CobraRow[] = [
  {
    name: 'packages',
    short: 'List packages in an index',
    load: async () => (await import('./catalog/list.ts')).listPackagesCommand,
  },
  {
    name: 'channels',
    short: 'List package channels in an index',
    load: async () => (await import('./catalog/list.ts')).listChannelsCommand,
  },
  {
    name: 'bundles',
    short: 'List package bundles in an index',
    load: async () => (await import('./catalog/list.ts')).listBundlesCommand,
  },
];

/** Subcommands of `opm alpha`. */
export const alphaCommands: readonly CobraRow[] = [
  {
    name: 'bundle',
    short: 'Operator bundle commands',
    load: async () => ({
      use: 'bundle',
      long: 'Generate operator bundle metadata and build bundle image.',
      args: noArgs,
    }),
    commands: bundleCommands,
  },
  {
    name: 'list',
    short: 'List contents of an index',
    load: async () => (await import('./catalog/list.ts')).listCommand,
    commands: listCommands,
  },
  {
    name: 'render-graph',
    short: 'Generate mermaid-formatted view of upgrade graph of operators in an index',
    load: async () => (await import('./catalog/render-graph.ts')).renderGraphCommand,
  },
  {
    name: 'render-template',
    short: 'Render a catalog template (auto-detects type from schema if TYPE not specified)',
    load: async () => (await import('./catalog/render-template.ts')).renderTemplateCommand,
  },
  {
    name: 'convert-template',
    short: 'Convert existing FBC to a supported template type',
    load: async () => ({ use: 'convert-template' }),
    commands: convertTemplateRows,
  },
  replaced('veneer', 'templates have replaced veneers: use "opm alpha render-template"'),
];

import type { CobraFlag, CobraProgram } from './cobra/command.ts';
import { completeRow } from './cobra/complete-command.ts';
import { execute } from './cobra/execute.ts';
import { helpRow } from './cobra/help-command.ts';
import { noArgs } from './cobra/positional-args.ts';
import { alphaCommands, commandTable } from './command-table.ts';

const registryFlags: readonly CobraFlag[] = [
  {
    name: 'skip-tls',
    kind: 'bool',
    usage:
      'skip TLS certificate verification for container image registries while pulling bundles or index',
    deprecated: 'use --use-http and --skip-tls-verify instead',
  },
  {
    name: 'skip-tls-verify',
    kind: 'bool',
    usage: 'skip TLS certificate verification for container image registries while pulling bundles',
  },
  {
    name: 'use-http',
    kind: 'bool',
    usage: 'use plain HTTP for container image registries while pulling bundles',
  },
];

const about = `CLI to interact with operator-registry and build indexes of operator content.

To view help related to alpha features, set HELP_ALPHA=true in the environment.`;

/** The tree of opm's commands. `showAlpha` lists the alpha commands in the help. */
export function opmProgram({ showAlpha }: { readonly showAlpha: boolean }): CobraProgram {
  const program: CobraProgram = {
    name: 'opm',
    short: 'operator package manager',
    persistentFlags: registryFlags,
    load: async () => ({
      use: 'opm',
      long: about,
      args: noArgs,
      flags: [{ name: 'debug', kind: 'bool', usage: 'enable debug logging', hidden: true }],
      run: async () => undefined,
    }),
    commands: [
      ...commandTable,
      helpRow(() => program),
      completeRow(() => program),
      {
        name: 'alpha',
        short: 'Run an alpha subcommand',
        hidden: !showAlpha,
        load: async () => ({ use: 'alpha', args: noArgs, run: async () => undefined }),
        commands: alphaCommands,
      },
    ],
  };
  return program;
}

/** Runs the command that the arguments name; sets the exit code of the process. Never rejects. */
export async function runOpm(args: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort(new Error('context canceled'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const showAlpha = process.env['HELP_ALPHA'] === 'true';
  await execute(opmProgram({ showAlpha }), args, interrupt.signal);
}

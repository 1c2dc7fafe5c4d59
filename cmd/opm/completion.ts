import { writeOutput } from '../ctl/output/write-output.ts';
import type { CobraRow } from './cobra/command.ts';
import { noArgs } from './cobra/positional-args.ts';
import { replaced } from './replaced.ts';

const shells = ['bash', 'fish', 'zsh'] as const;

/** `opm completion`: shell scripts, which call `opm __complete`. */
export const completionRow: CobraRow = {
  name: 'completion',
  short: 'Generate the autocompletion script for the specified shell',
  load: async () => ({
    use: 'completion',
    long: `Generate the autocompletion script for opm for the specified shell.
See each sub-command's help for details on how to use the generated script.
`,
    args: noArgs,
  }),
  commands: [
    ...shells.map(shellRow),
    replaced('powershell', 'it completes command lines of bash, fish and zsh'),
  ],
};

function shellRow(shell: (typeof shells)[number]): CobraRow {
  return {
    name: shell,
    short: `Generate the autocompletion script for ${shell}`,
    load: async () => ({
      use: shell,
      args: noArgs,
      run: async () => {
        const { completionScript } = await import('../ctl/completion.ts');
        await writeOutput([completionScript(shell, 'opm')], process.stdout);
      },
    }),
  };
}

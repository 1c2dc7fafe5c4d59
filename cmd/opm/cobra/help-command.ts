import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraProgram, CobraRow } from './command.ts';
import { findCommand } from './found-command.ts';
import { helpText } from './usage.ts';

/** `help [command]` of cobra. For an unknown word, prints the help of the last known command. */
export function helpRow(program: () => CobraProgram): CobraRow {
  return {
    name: 'help',
    short: 'Help about any command',
    load: async () => ({
      use: 'help [command]',
      long: `Help provides help for any command in the application.
Simply type ${program().name} help [path to command] for full details.`,
      run: async ({ args }) => {
        const { found } = await findCommand(program(), args);
        await writeOutput([helpText(found)], process.stdout);
      },
    }),
  };
}

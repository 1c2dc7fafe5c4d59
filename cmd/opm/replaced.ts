import type { CobraRow } from './cobra/command.ts';
import { FatalLine } from './cobra/failures.ts';

/** A command of opm that this program does not have: its error names the alternative. */
export function replaced(name: string, instead: string): CobraRow {
  return {
    name,
    short: '',
    hidden: true,
    load: async () => ({
      use: name,
      keepsFlags: true,
      run: async ({ args, path }) => {
        const [word = '-'] = args;
        const called = word.startsWith('-') ? path : `${path} ${word}`;
        throw new FatalLine(`Error: this opm has no "${called}": ${instead}`);
      },
    }),
  };
}

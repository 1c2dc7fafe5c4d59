import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraProgram, CobraRow } from './command.ts';
import { type FoundCommand, findCommand } from './found-command.ts';
import { takesNextWord } from './parse-flags.ts';
import { listedCommands, shownFlags } from './usage.ts';

/** cobra's directives: whether the shell completes file names. */
const directive = { files: 0, nothing: 4 } as const;

/** The hidden command that completion scripts call, including cobra's own scripts. */
export function completeRow(program: () => CobraProgram): CobraRow {
  return {
    name: '__complete',
    short: '',
    hidden: true,
    load: async () => ({
      use: '__complete',
      keepsFlags: true,
      run: async ({ args }) => {
        const lines = await completion(program(), args);
        await writeOutput([lines.map((line) => `${line}\n`).join('')], process.stdout);
      },
    }),
  };
}

/** Candidates for the last word, one per line, then the directive. */
async function completion(
  program: CobraProgram,
  words: readonly string[],
): Promise<readonly string[]> {
  const last = words.at(-1) ?? '';
  const { found, rest } = await findCommand(program, words.slice(0, -1));
  const isValue = takesNextWord(rest.at(-1) ?? '', found.flags);
  const offered = isValue ? undefined : await candidates(program, found, { last, rest });
  if (offered === undefined) return [`:${directive.files}`];
  const lines = offered
    .filter(([name]) => name.startsWith(last))
    .map(([name, about]) => [name, about.split('\n')[0]].join('\t'));
  return [...lines, `:${directive.nothing}`];
}

type Candidates = readonly (readonly [name: string, about: string])[];

/** Undefined for the completion of file names. */
async function candidates(
  program: CobraProgram,
  found: FoundCommand,
  { last, rest }: { readonly last: string; readonly rest: readonly string[] },
): Promise<Candidates | undefined> {
  if (last.startsWith('-')) {
    const flags = [...found.inheritedFlags, ...found.localFlags].filter(shownFlags);
    return flags.map(({ name, usage }) => [`--${name}`, usage]);
  }
  const named = found.row.name === 'help' ? (await findCommand(program, rest)).found : found;
  const commands = listedCommands(named);
  return commands.length === 0 ? undefined : commands.map(({ name, short }) => [name, short]);
}

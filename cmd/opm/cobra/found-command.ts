import type { CobraCommand, CobraFlag, CobraProgram, CobraRow } from './command.ts';
import { takesNextWord } from './parse-flags.ts';

/** The command that the words of a command line name. */
export class FoundCommand {
  /** From the program down to this command. */
  readonly rows: readonly CobraRow[];
  readonly command: CobraCommand;
  readonly #persistentFlags: readonly CobraFlag[];

  constructor(
    rows: readonly CobraRow[],
    command: CobraCommand,
    persistentFlags: readonly CobraFlag[],
  ) {
    this.rows = rows;
    this.command = command;
    this.#persistentFlags = persistentFlags;
  }

  get path(): string {
    return this.rows.map(({ name }) => name).join(' ');
  }

  get row(): CobraRow {
    const row = this.rows.at(-1);
    if (row === undefined) throw new Error('a command line leads to the program at least');
    return row;
  }

  /** Flags of this command and `--help`, sorted by name. */
  get localFlags(): readonly CobraFlag[] {
    const own = [...(this.command.flags ?? []), helpFlag(this.row.name)];
    return sorted(this.rows.length > 1 ? own : [...own, ...this.#persistentFlags]);
  }

  /** Flags of the program, except those that a flag of this command overrides. */
  get inheritedFlags(): readonly CobraFlag[] {
    if (this.rows.length === 1) return [];
    const own = new Set(this.localFlags.map(({ name }) => name));
    return sorted(this.#persistentFlags.filter(({ name }) => !own.has(name)));
  }

  get flags(): readonly CobraFlag[] {
    return [...this.localFlags, ...this.inheritedFlags];
  }
}

function helpFlag(name: string): CobraFlag {
  return { name: 'help', short: 'h', kind: 'bool', usage: `help for ${name}` };
}

function sorted(flags: readonly CobraFlag[]): readonly CobraFlag[] {
  return flags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export interface FoundWords {
  readonly found: FoundCommand;
  /** Words that are not names of commands. */
  readonly rest: readonly string[];
}

/** Descends the tree while words name commands; loads only the commands on that path. */
export async function findCommand(
  program: CobraProgram,
  words: readonly string[],
): Promise<FoundWords> {
  let rows: readonly CobraRow[] = [program];
  let rest = words;
  for (;;) {
    const row = rows.at(-1) ?? program;
    const found = new FoundCommand(rows, await row.load(), program.persistentFlags);
    // cobra adds --help only to the command that it finds. Until then, it takes the word after
    // --help for its value.
    const position = firstArgument(
      rest,
      found.flags.filter(({ name }) => name !== 'help'),
    );
    const next = row.commands?.find(({ name }) => name === rest[position]);
    if (next === undefined) return { found, rest };
    rows = [...rows, next];
    rest = rest.toSpliced(position, 1);
  }
}

/** Index of the first word that is neither a flag nor a flag's value; -1 if there is none. */
function firstArgument(words: readonly string[], flags: readonly CobraFlag[]): number {
  for (let position = 0; position < words.length; position += 1) {
    const word = words[position] ?? '';
    if (word === '--') return -1;
    if (takesNextWord(word, flags)) position += 1;
    else if (word !== '' && !word.startsWith('-')) return position;
  }
  return -1;
}

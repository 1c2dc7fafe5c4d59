import type { CobraCommand, CobraFlag, CobraProgram, CobraRow } from './command.ts';
import { takesNextWord } from './parse-flags.ts';

/** A command that the words of a command line lead to. */
export class FoundCommand {
  /** From the program down to it. */
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

  /** Its own, with help, in the order of their names. */
  get localFlags(): readonly CobraFlag[] {
    const own = [...(this.command.flags ?? []), helpFlag(this.row.name)];
    return sorted(this.rows.length > 1 ? own : [...own, ...this.#persistentFlags]);
  }

  /** Those of the program that none of its own hides. */
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
  /** Those that are not names of commands. */
  readonly rest: readonly string[];
}

/** Goes down the tree as far as words name commands; only commands on the way are loaded. */
export async function findCommand(
  program: CobraProgram,
  words: readonly string[],
): Promise<FoundWords> {
  let rows: readonly CobraRow[] = [program];
  let rest = words;
  for (;;) {
    const row = rows.at(-1) ?? program;
    const found = new FoundCommand(rows, await row.load(), program.persistentFlags);
    // cobra adds --help to the command that it has found: before, it takes the next word for its value.
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

/** The place of the first word that is neither a flag nor the value of one; none: -1. */
function firstArgument(words: readonly string[], flags: readonly CobraFlag[]): number {
  for (let position = 0; position < words.length; position += 1) {
    const word = words[position] ?? '';
    if (word === '--') return -1;
    if (takesNextWord(word, flags)) position += 1;
    else if (word !== '' && !word.startsWith('-')) return position;
  }
  return -1;
}

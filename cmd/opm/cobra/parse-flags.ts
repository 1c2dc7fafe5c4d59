import type { CobraFlag } from './command.ts';
import { FlagValues } from './flag-values.ts';

export interface ParsedFlags {
  readonly args: readonly string[];
  readonly values: FlagValues;
  /** Warnings about deprecated flags on the command line. */
  readonly warnings: readonly string[];
}

/**
 * Parses the words after a command's name like pflag: flags and arguments in any order; after `--`,
 * only arguments.
 * @throws Error with pflag's text.
 */
export function parseFlags(words: readonly string[], flags: readonly CobraFlag[]): ParsedFlags {
  const parser = new FlagParser(words, flags);
  return parser.parse();
}

class FlagParser {
  readonly #rest: string[];
  readonly #flags: readonly CobraFlag[];
  readonly #values: FlagValues;
  readonly #warnings: string[] = [];

  constructor(words: readonly string[], flags: readonly CobraFlag[]) {
    this.#rest = [...words];
    this.#flags = flags;
    this.#values = new FlagValues(flags);
  }

  parse(): ParsedFlags {
    const args: string[] = [];
    for (;;) {
      const word = this.#rest.shift();
      if (word === undefined) break;
      if (word === '--') {
        args.push(...this.#rest);
        break;
      }
      if (word.startsWith('--')) this.#takeLong(word);
      else if (word.startsWith('-') && word.length > 1) this.#takeShort(word.slice(1));
      else args.push(word);
    }
    return { args, values: this.#values, warnings: this.#warnings };
  }

  #takeLong(word: string): void {
    const [name = '', value] = word.slice(2).split(/=(.*)/s);
    if (name === '' || name.startsWith('-')) throw new Error(`bad flag syntax: ${word}`);
    const flag = this.#flags.find((each) => each.name === name);
    if (flag === undefined) throw new Error(`unknown flag: --${name}`);
    this.#set(flag, value ?? this.#valueOf(flag, `--${name}`));
  }

  /** One short flag, or several of which only the last takes a value. */
  #takeShort(letters: string): void {
    const [letter = ''] = letters;
    const after = letters.slice(letter.length);
    const flag = this.#flags.find(({ short }) => short === letter);
    if (flag === undefined) {
      throw new Error(`unknown shorthand flag: ${goRune(letter)} in -${letters}`);
    }
    if (after.length > 1 && after.startsWith('=')) {
      this.#set(flag, after.slice(1));
    } else if (flag.kind === 'bool') {
      this.#set(flag, 'true');
      if (after !== '') this.#takeShort(after);
    } else {
      this.#set(
        flag,
        after === '' ? this.#valueOf(flag, `${goRune(letter)} in -${letters}`) : after,
      );
    }
  }

  #valueOf(flag: CobraFlag, named: string): string {
    if (flag.kind === 'bool') return 'true';
    const value = this.#rest.shift();
    if (value === undefined) throw new Error(`flag needs an argument: ${named}`);
    return value;
  }

  #set(flag: CobraFlag, value: string): void {
    this.#values.set(flag, value);
    if (flag.deprecated !== undefined) {
      this.#warnings.push(`Flag --${flag.name} has been deprecated, ${flag.deprecated}\n`);
    }
  }
}

/** `%q` of a rune. */
function goRune(character: string): string {
  return character === "'" || character === '\\' ? `'\\${character}'` : `'${character}'`;
}

/** Whether the next word is the value of this flag; for finding commands among flags. */
export function takesNextWord(word: string, flags: readonly CobraFlag[]): boolean {
  if (!word.startsWith('-') || word.includes('=')) return false;
  if (word.startsWith('--'))
    return flags.find(({ name }) => name === word.slice(2))?.kind !== 'bool';
  return word.length === 2 && flags.find(({ short }) => short === word[1])?.kind !== 'bool';
}

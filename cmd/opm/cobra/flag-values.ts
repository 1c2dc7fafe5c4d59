import { goQuote } from '../../../api/go-quote.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { CobraFlag } from './command.ts';

type FlagValue = string | boolean | bigint | readonly string[];

/** Values of a command's flags: from the command line, else the defaults. */
export class FlagValues {
  readonly #flags: ReadonlyMap<string, CobraFlag>;
  readonly #given = new Map<string, FlagValue>();

  constructor(flags: readonly CobraFlag[]) {
    this.#flags = new Map(flags.map((flag) => [flag.name, flag]));
  }

  string(name: string): string {
    return this.#value(name, 'string') as string;
  }

  bool(name: string): boolean {
    return this.#value(name, 'bool') as boolean;
  }

  strings(name: string): readonly string[] {
    return this.#value(name, 'strings') as readonly string[];
  }

  uint(name: string): bigint {
    return this.#value(name, 'uint') as bigint;
  }

  /** Whether the command line sets the flag. */
  changed(name: string): boolean {
    return this.#given.has(name);
  }

  /** @throws Error with pflag's text for an invalid value. */
  set(flag: CobraFlag, text: string): void {
    const value = read(flag, text);
    const before = this.#given.get(flag.name);
    const isList = Array.isArray(value) && Array.isArray(before);
    this.#given.set(flag.name, isList ? [...before, ...value] : value);
  }

  #value(name: string, kind: CobraFlag['kind']): FlagValue {
    const flag = this.#flags.get(name);
    if (flag?.kind !== kind) throw new Error(`there is no flag --${name} of kind ${kind}`);
    return this.#given.get(name) ?? parsers[kind](flag.default ?? unset[kind]);
  }
}

function read(flag: CobraFlag, text: string): FlagValue {
  try {
    return parsers[flag.kind](text);
  } catch (error) {
    const name = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`;
    const cause = errorMessage(error);
    throw new Error(`invalid argument ${goQuote(text)} for ${goQuote(name)} flag: ${cause}`, {
      cause: error,
    });
  }
}

const unset = { string: '', strings: '', bool: 'false', uint: '0' } as const;

/** @throws Error with the text of Go's parser. */
const parsers: Readonly<Record<CobraFlag['kind'], (text: string) => FlagValue>> = {
  string: (text) => text,
  bool: (text) => {
    if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
    if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
    throw new Error(`strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax`);
  },
  uint: (text) => {
    if (/^(?:\d+|0x[\da-f]+)$/i.test(text)) return BigInt(text);
    throw new Error(`strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`);
  },
  strings: (text) => (text === '' ? [] : commaSeparated(text)),
};

/** Parses a line of CSV: a quoted part may contain commas and doubled quotes. */
function commaSeparated(text: string): readonly string[] {
  const parts: string[] = [];
  const part = /"((?:[^"]|"")*)"(,|$)|([^",]*)(,|$)/y;
  do {
    const start = part.lastIndex;
    const match = part.exec(text);
    if (match === null) throw csvError(text, start);
    const [, quoted, quotedEnd, plain, plainEnd] = match;
    parts.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if ((quotedEnd ?? plainEnd) === '') return parts;
  } while (part.lastIndex <= text.length);
  return parts;
}

function csvError(text: string, start: number): Error {
  const isQuoted = text[start] === '"';
  const quote = isQuoted ? text.length : text.indexOf('"', start);
  const what = isQuoted ? 'extraneous or missing " in quoted-field' : 'bare " in non-quoted field';
  return new Error(`parse error on line 1, column ${quote + 1}: ${what}`);
}

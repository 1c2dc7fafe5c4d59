import { goQuote } from '../../../api/go-quote.ts';

/** Go's error for a text that is no JSON. */
export interface JsonSyntaxError {
  readonly text: string;
  /** Offset behind the wrong character. */
  readonly offset: number;
}

/** The end of a word, number or text, or the offset of its wrong character with Go's words for it. */
interface Scanned {
  readonly at: number;
  readonly wrong?: string;
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'next';

/**
 * The error of Go's decoder for the value at `start`; undefined if the bytes end before the value
 * does, or if the value is whole.
 */
export function jsonSyntaxError(bytes: Buffer, start: number): JsonSyntaxError | undefined {
  const value = new OpenValue();
  let at = behindBlanks(bytes, start);
  while (at < bytes.length && !value.isWhole) {
    const { at: next, wrong } = value.read(bytes, at);
    if (wrong !== undefined) return errorAt(bytes, next, wrong);
    at = behindBlanks(bytes, next);
  }
  return undefined;
}

/** What has been read of a value. */
class OpenValue {
  /** Its braces and brackets. */
  readonly #open: number[] = [];
  #expected: Expected = 'value';

  get isWhole(): boolean {
    return this.#expected === 'next' && this.#open.length === 0;
  }

  read(bytes: Buffer, at: number): Scanned {
    const code = bytes[at] ?? 0;
    if (this.#isEnd(code)) {
      this.#open.pop();
      this.#expected = 'next';
      return { at: at + 1 };
    }
    switch (this.#expected) {
      case 'key':
      case 'key or end':
        this.#expected = 'colon';
        return code === char.quote ? quoted(bytes, at) : { at, wrong: wrongKey };
      case 'colon':
        this.#expected = 'value';
        return code === char.colon ? { at: at + 1 } : { at, wrong: 'after object key' };
      case 'next':
        return this.#next(code, at);
      default:
        return this.#value(bytes, at);
    }
  }

  #isEnd(code: number): boolean {
    const isObject = this.#open.at(-1) === char.brace;
    const isAllowed =
      this.#expected === 'next' || this.#expected === (isObject ? 'key or end' : 'value or end');
    return isAllowed && code === (isObject ? char.closingBrace : char.closingBracket);
  }

  #next(code: number, at: number): Scanned {
    const isObject = this.#open.at(-1) === char.brace;
    this.#expected = isObject ? 'key' : 'value';
    if (code === char.comma) return { at: at + 1 };
    return { at, wrong: isObject ? 'after object key:value pair' : 'after array element' };
  }

  #value(bytes: Buffer, at: number): Scanned {
    const code = bytes[at] ?? 0;
    this.#expected = 'next';
    if (code !== char.brace && code !== char.bracket) return scalar(bytes, at);
    if (this.#open.length === deepest) return { at, wrong: 'exceeded max depth' };
    this.#open.push(code);
    this.#expected = code === char.brace ? 'key or end' : 'value or end';
    return { at: at + 1 };
  }
}

const wrongKey = 'looking for beginning of object key string';

/** Levels of objects and lists that Go reads. */
const deepest = 10_000;

const char = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  bracket: 0x5b,
  backslash: 0x5c,
  closingBracket: 0x5d,
  brace: 0x7b,
  closingBrace: 0x7d,
} as const;

function behindBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(String.fromCharCode(bytes[at] ?? 0))) at += 1;
  return at;
}

function scalar(bytes: Buffer, at: number): Scanned {
  const code = bytes[at];
  if (code === char.quote) return quoted(bytes, at);
  if (code === char.minus || isDigit(code)) return number(bytes, at);
  const word = ['true', 'false', 'null'].find((each) => each.charCodeAt(0) === code);
  if (word === undefined) return { at, wrong: 'looking for beginning of value' };
  let length = 1;
  while (length < word.length && word.charCodeAt(length) === bytes[at + length]) length += 1;
  if (length === word.length) return { at: at + length };
  return { at: at + length, wrong: `in literal ${word} (expecting '${word.charAt(length)}')` };
}

function quoted(bytes: Buffer, start: number): Scanned {
  let at = start + 1;
  while (at < bytes.length) {
    const code = bytes[at] ?? 0;
    if (code === char.quote) return { at: at + 1 };
    if (code < 0x20) return { at, wrong: 'in string literal' };
    const scanned = code === char.backslash ? escaped(bytes, at + 1) : { at: at + 1 };
    if (scanned.wrong !== undefined) return scanned;
    ({ at } = scanned);
  }
  return { at };
}

function escaped(bytes: Buffer, at: number): Scanned {
  const escape = String.fromCharCode(bytes[at] ?? 0);
  if (escape !== 'u') {
    return 'bfnrt\\/"'.includes(escape) ? { at: at + 1 } : { at, wrong: 'in string escape code' };
  }
  for (let digit = at + 1; digit < at + 5; digit += 1) {
    if (!isHex(bytes[digit])) return { at: digit, wrong: 'in \\u hexadecimal character escape' };
  }
  return { at: at + 5 };
}

function number(bytes: Buffer, start: number): Scanned {
  const first = start + (bytes[start] === char.minus ? 1 : 0);
  if (!isDigit(bytes[first])) return { at: first, wrong: 'in numeric literal' };
  const at = bytes[first] === char.zero ? first + 1 : behindDigits(bytes, first);
  if (bytes[at] !== char.point) return exponent(bytes, at);
  const wrong = 'after decimal point in numeric literal';
  return isDigit(bytes[at + 1])
    ? exponent(bytes, behindDigits(bytes, at + 1))
    : { at: at + 1, wrong };
}

function exponent(bytes: Buffer, at: number): Scanned {
  if (!/[eE]/.test(String.fromCharCode(bytes[at] ?? 0))) return { at };
  const first = at + (/[-+]/.test(String.fromCharCode(bytes[at + 1] ?? 0)) ? 2 : 1);
  if (isDigit(bytes[first])) return { at: behindDigits(bytes, first) };
  return { at: first, wrong: 'in exponent of numeric literal' };
}

function behindDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  return at;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= char.zero && code <= char.nine;
}

function isHex(code: number | undefined): boolean {
  return code !== undefined && /[0-9a-fA-F]/.test(String.fromCharCode(code));
}

/** Go shows one byte, as the character of that number. */
function errorAt(bytes: Buffer, at: number, where: string): JsonSyntaxError | undefined {
  const code = bytes[at];
  if (code === undefined) return undefined;
  const shown = String.fromCharCode(code);
  const quotedText = goQuote(shown).slice(1, -1);
  const text = shown === "'" ? "\\'" : shown === '"' ? '"' : quotedText;
  return { text: `invalid character '${text}' ${where}`, offset: at + 1 };
}

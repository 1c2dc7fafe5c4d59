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
  const open: number[] = [];
  let expected: Expected = 'value';
  for (let at = start; ; ) {
    at = behindBlanks(bytes, at);
    const code = bytes[at];
    if (code === undefined) return undefined;
    let scanned: Scanned = { at: at + 1 };
    const isEnd = endsEmpty(expected, code) || (expected === 'next' && code === closing(open));
    if (isEnd) {
      open.pop();
      expected = 'next';
    } else if (expected === 'value' || expected === 'value or end') {
      if (code === char.brace || code === char.bracket) {
        if (open.length === deepest) scanned = { at, wrong: 'exceeded max depth' };
        open.push(code);
        expected = code === char.brace ? 'key or end' : 'value or end';
      } else {
        scanned = scalar(bytes, at);
        expected = 'next';
      }
    } else if (expected === 'key' || expected === 'key or end') {
      const wrong = 'looking for beginning of object key string';
      scanned = code === char.quote ? quoted(bytes, at) : { at, wrong };
      expected = 'colon';
    } else if (expected === 'colon') {
      if (code !== char.colon) scanned = { at, wrong: 'after object key' };
      expected = 'value';
    } else {
      if (open.length === 0) return undefined;
      const isObject = open.at(-1) === char.brace;
      const wrong = isObject ? 'after object key:value pair' : 'after array element';
      if (code !== char.comma) scanned = { at, wrong };
      expected = isObject ? 'key' : 'value';
    }
    if (scanned.wrong !== undefined) return errorAt(bytes, scanned.at, scanned.wrong);
    at = scanned.at;
  }
}

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

function endsEmpty(expected: Expected, code: number): boolean {
  if (expected === 'key or end') return code === char.closingBrace;
  return expected === 'value or end' && code === char.closingBracket;
}

function closing(open: readonly number[]): number | undefined {
  const last = open.at(-1);
  if (last === undefined) return undefined;
  return last === char.brace ? char.closingBrace : char.closingBracket;
}

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
  const length = [...word].findIndex((each, index) => each.charCodeAt(0) !== bytes[at + index]);
  if (length === -1) return { at: at + word.length };
  return { at: at + length, wrong: `in literal ${word} (expecting '${word.charAt(length)}')` };
}

function quoted(bytes: Buffer, start: number): Scanned {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === char.quote) return { at: at + 1 };
    if (code < 0x20) return { at, wrong: 'in string literal' };
    if (code !== char.backslash) continue;
    at += 1;
    const escape = String.fromCharCode(bytes[at] ?? 0);
    if (escape === 'u') {
      const end = at + 4;
      for (at += 1; at < end && isHex(bytes[at]); at += 1);
      if (!isHex(bytes[at])) return { at, wrong: 'in \\u hexadecimal character escape' };
    } else if (!'bfnrt\\/"'.includes(escape)) return { at, wrong: 'in string escape code' };
  }
  return { at: bytes.length };
}

function number(bytes: Buffer, start: number): Scanned {
  const first = start + (bytes[start] === char.minus ? 1 : 0);
  if (!isDigit(bytes[first])) return { at: first, wrong: 'in numeric literal' };
  let at = bytes[first] === char.zero ? first + 1 : behindDigits(bytes, first);
  if (bytes[at] === char.point) {
    at += 1;
    if (!isDigit(bytes[at])) return { at, wrong: 'after decimal point in numeric literal' };
    at = behindDigits(bytes, at);
  }
  if (!/[eE]/.test(String.fromCharCode(bytes[at] ?? 0))) return { at };
  at += /[-+]/.test(String.fromCharCode(bytes[at + 1] ?? 0)) ? 2 : 1;
  if (!isDigit(bytes[at])) return { at, wrong: 'in exponent of numeric literal' };
  return { at: behindDigits(bytes, at) };
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

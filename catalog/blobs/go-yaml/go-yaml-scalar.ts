import { asciiScalar, foldWidth } from './go-yaml-ascii.ts';
import { staysText } from './go-yaml-plain.ts';

/** Position of a text in a document. */
export interface ScalarPlace {
  /** Column of its first character, from 0. */
  readonly column: number;
  /** Spaces before each further line. */
  readonly indent: number;
  /** A key stays on its line. */
  readonly isKey: boolean;
}

/** A text as go-yaml writes it: plain, in quotes, or as a block. */
export function scalarText(text: string, place: ScalarPlace): string {
  return asciiScalar(text, place) ?? anyScalar(text.toWellFormed(), place);
}

function anyScalar(text: string, place: ScalarPlace): string {
  const can = stylesOf(text);
  if (text.includes('\n')) {
    return can.block && !place.isKey ? block(text, place) : doubleQuoted(text, place);
  }
  if (!staysText(text)) return doubleQuoted(text, place);
  if (can.plain) return folded(text, place);
  return can.singleQuoted ? singleQuoted(text, place) : doubleQuoted(text, place);
}

interface Styles {
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly block: boolean;
}

/** Characters that go-yaml always escapes, including all beyond 16 bits. */
const special = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;
const indicators =
  /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|---|\.\.\.)|:(?:[ \t]|$)|[ \t\n\u2028\u2029]#/;
const breaks = /[\n\u2028\u2029]/;

function stylesOf(text: string): Styles {
  const isSpecial = special.test(text) || / [\n\u2028\u2029]/.test(text);
  const breaksSpace = /[\n\u2028\u2029] /.test(text);
  const isEdged = /^[ \n\u2028\u2029]|[ \n\u2028\u2029]$/.test(text);
  return {
    plain: !(isSpecial || breaksSpace || isEdged || breaks.test(text) || indicators.test(text)),
    singleQuoted: !(isSpecial || breaksSpace),
    block: !(isSpecial || text.endsWith(' ')),
  };
}

function folded(text: string, place: ScalarPlace): string {
  const isShort = place.isKey || place.column + text.length <= foldWidth;
  return isShort ? text : foldedCharacters(Array.from(text), place, { isQuoted: false });
}

function singleQuoted(text: string, place: ScalarPlace): string {
  const inside = { ...place, column: place.column + 1 };
  return `'${foldedCharacters(Array.from(text), inside, { isQuoted: true })}'`;
}

/** Breaks lines at single spaces; inside quotes never at the first or last character. */
function foldedCharacters(
  characters: readonly string[],
  { column, indent, isKey }: ScalarPlace,
  { isQuoted }: { readonly isQuoted: boolean },
): string {
  const lines = new FoldedLines(column, ' '.repeat(indent));
  const [first, last] = isQuoted ? [1, characters.length - 1] : [0, characters.length];
  const inside = isKey ? 0 : last;
  const quoted = isQuoted ? doubledQuote : (character: string): string => character;
  for (const [index, character] of characters.entries()) {
    const mayFold = lines.column > foldWidth && index < inside && isSingleSpace(characters, index);
    if (mayFold && index >= first) lines.fold();
    else lines.take(quoted(character));
  }
  return lines.text;
}

function doubledQuote(character: string): string {
  return character === "'" ? "''" : character;
}

function isSingleSpace(characters: readonly string[], index: number): boolean {
  if (characters[index] !== ' ') return false;
  return characters[index - 1] !== ' ' && characters[index + 1] !== ' ';
}

class FoldedLines {
  text = '';
  column: number;
  readonly #lead: string;
  #isSeparated = false;

  constructor(column: number, lead: string) {
    this.column = column;
    this.#lead = lead;
  }

  fold(): void {
    this.text += `\n${this.#lead}`;
    this.column = this.#lead.length;
  }

  take(piece: string): void {
    const isSeparator = separator.test(piece);
    const start = this.#isSeparated && !isSeparator ? this.#lead : '';
    this.text += start + piece;
    this.column = isSeparator ? 0 : this.column + start.length + piece.length;
    this.#isSeparated = isSeparator;
  }
}

/** A character that ends a line, other than a line feed. */
const separator = /^[\u2028\u2029]$/;

const escapes: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x85', '\\N'],
  ['\xa0', '\\_'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
]);

function doubleQuoted(text: string, { column, indent, isKey }: ScalarPlace): string {
  const characters = Array.from(text);
  // At every character, go-yaml looks for the mark at the text's start, so it escapes them all.
  if (characters[0] === byteOrderMark) return `"${characters.map(escapedAnyway).join('')}"`;
  let written = '"';
  let at = column + 1;
  const inside = isKey ? 0 : characters.length - 1;
  for (const [index, character] of characters.entries()) {
    const mayFold = at > foldWidth && index < inside && isFirstSpace(characters, index);
    if (mayFold) {
      const mark = characters[index + 1] === ' ' ? '\\' : '';
      written += `\n${' '.repeat(indent)}${mark}`;
      at = indent + mark.length;
    } else {
      const piece = escaped(character);
      written += piece;
      at += piece === character ? 1 : piece.length;
    }
  }
  return `${written}"`;
}

/** Whether the character is a space after a character other than a space. */
function isFirstSpace(characters: readonly string[], index: number): boolean {
  return characters[index] === ' ' && index > 0 && characters[index - 1] !== ' ';
}

const byteOrderMark = '\ufeff';

function escaped(character: string): string {
  const isWritten = !(special.test(character) || /["\\\n\u2028\u2029]/.test(character));
  return isWritten ? character : escapedAnyway(character);
}

function escapedAnyway(character: string): string {
  const known = escapes.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Each line with the indent, except empty ones. */
function block(text: string, { indent }: ScalarPlace): string {
  const hint = /^[ \n\u2028\u2029]/.test(text) ? '2' : '';
  const lead = ' '.repeat(indent);
  const lines = text.replaceAll(/^(?=[^\n\u2028\u2029])/gm, lead);
  if (!breaks.test(text.at(-1) ?? '')) return `|${hint}-\n${lines}`;
  const isKept = text.length === 1 || breaks.test(text.at(-2) ?? '');
  return `|${hint}${isKept ? '+' : ''}\n${lines.replace(/\n$/, '')}`;
}

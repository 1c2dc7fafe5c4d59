import { TerminalError } from '../../core/errors.ts';
import { endOfString } from '../blobs/index.ts';

/**
 * Splits JSON text without changing a character: numbers, the order of keys and escapes stay as
 * written. For text that JSON.parse has accepted.
 */

/** Texts of the members of an object by name; the last one of a repeated name. */
export function memberTexts(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(json, json.indexOf('{') + 1);
  while (json.charAt(at) === '"') {
    const colon = skipSpace(json, endOfString(json, at));
    const name = JSON.parse(json.slice(at, endOfString(json, at))) as string;
    const start = skipSpace(json, colon + 1);
    const end = endOfValue(json, start);
    members.set(name, json.slice(start, end));
    at = skipSpace(json, skipSpace(json, end) + 1);
  }
  return members;
}

/** The texts of the elements of a list. */
export function elementTexts(json: string): readonly string[] {
  const elements: string[] = [];
  let start = skipSpace(json, json.indexOf('[') + 1);
  while (start < json.length && json.charAt(start) !== ']') {
    const end = endOfValue(json, start);
    elements.push(json.slice(start, end));
    const separator = skipSpace(json, end);
    if (json.charAt(separator) !== ',') break;
    start = skipSpace(json, separator + 1);
  }
  return elements;
}

const blankOrQuote = /[ \t\r\n"]/g;

/** The text without white space between its parts. */
export function compacted(json: string): string {
  const pieces: string[] = [];
  let copied = 0;
  let at = 0;
  for (;;) {
    blankOrQuote.lastIndex = at;
    const found = blankOrQuote.exec(json);
    if (found === null) break;
    if (found[0] === '"') at = endOfString(json, found.index);
    else {
      pieces.push(json.slice(copied, found.index));
      at = skipSpace(json, found.index);
      copied = at;
    }
  }
  pieces.push(json.slice(copied));
  return pieces.join('');
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && ' \t\r\n'.includes(json.charAt(at))) at += 1;
  return at;
}

function endOfValue(json: string, start: number): number {
  const first = json.charAt(start);
  if (first === '"') return endOfString(json, start);
  if (first !== '{' && first !== '[') return endOfWord(json, start);
  return endOfNested(json, start);
}

const wordEnd = /[,\]}\s]|$/g;

function endOfWord(json: string, start: number): number {
  wordEnd.lastIndex = start;
  return wordEnd.exec(json)?.index ?? json.length;
}

const bracketOrQuote = /["{}[\]]/g;

function endOfNested(json: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    bracketOrQuote.lastIndex = at;
    const found = bracketOrQuote.exec(json);
    if (found === null) throw new TerminalError('unexpected end of JSON input');
    const [character] = found;
    at = character === '"' ? endOfString(json, found.index) : found.index + 1;
    if (character !== '"') depth += character === '{' || character === '[' ? 1 : -1;
    if (depth === 0) return at;
  }
}

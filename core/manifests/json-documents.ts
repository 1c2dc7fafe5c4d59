import { type JsonValue, parseJson, stringifyJson } from '../../api/json.ts';
import { TerminalError } from '../errors.ts';
import { checkObjectCount } from './objects.ts';
import { escapedForYaml } from './write-yaml.ts';
import { maxNesting, nestingError } from './yaml/yaml-text.ts';

interface JsonDocument {
  readonly value: JsonValue;
  /** The JSON text as written. */
  readonly text: string;
}

interface JsonStream {
  readonly documents: readonly JsonDocument[];
  /** Offset of the first text that is not JSON; the text's length when all of it is. */
  readonly end: number;
}

/**
 * Reads consecutive JSON objects, separated by nothing or by white space. Stops without an error at
 * text that is not a JSON object, because the rest may be YAML.
 * @throws TerminalError for more than `maxObjects`, or an object that no API server accepts.
 */
export function readJsonStream(text: string, maxObjects = Number.POSITIVE_INFINITY): JsonStream {
  const documents: JsonDocument[] = [];
  let end = 0;
  for (;;) {
    const start = skipSpace(text, end);
    if (text.charAt(start) !== '{') return { documents, end: start };
    const document = documentOfLine(text, start) ?? documentOfBraces(text, start);
    if (document === undefined) return { documents, end: start };
    checkValue(document.value, 1);
    checkObjectCount(documents.push(document), maxObjects);
    end = start + document.text.length;
  }
}

// Programs write one object per line: finding its end by counting braces would take longer.
function documentOfLine(text: string, start: number): JsonDocument | undefined {
  const end = text.indexOf('\n', start);
  return end > start && text.charAt(end - 1) === '}'
    ? parseOrUndefined(text.slice(start, end))
    : undefined;
}

function documentOfBraces(text: string, start: number): JsonDocument | undefined {
  return parseOrUndefined(text.slice(start, closingBrace(text, start)));
}

function parseOrUndefined(text: string): JsonDocument | undefined {
  try {
    return { value: parseJson(text), text };
  } catch {
    return undefined;
  }
}

const space = /\S|$/g;

function skipSpace(text: string, from: number): number {
  space.lastIndex = from;
  return space.exec(text)?.index ?? text.length;
}

const braceOrQuote = /["{}]/g;
const quoteOrEscape = /["\\]/g;

// Counts braces outside of strings; parsing the piece detects wrong nesting.
function closingBrace(text: string, start: number): number {
  let depth = 0;
  braceOrQuote.lastIndex = start;
  for (let at = nextMatch(braceOrQuote, text); at !== -1; at = nextMatch(braceOrQuote, text)) {
    const char = text.charAt(at);
    if (char === '"') braceOrQuote.lastIndex = closingQuote(text, at + 1) + 1;
    else depth += char === '{' ? 1 : -1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function closingQuote(text: string, from: number): number {
  quoteOrEscape.lastIndex = from;
  for (let at = nextMatch(quoteOrEscape, text); at !== -1; at = nextMatch(quoteOrEscape, text)) {
    if (text.charAt(at) === '"') return at;
    quoteOrEscape.lastIndex = at + 2;
  }
  return text.length;
}

function nextMatch(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.index ?? -1;
}

function checkValue(value: JsonValue | undefined, depth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TerminalError('json: cannot unmarshal a number beyond the range of float64');
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxNesting) throw nestingError();
  for (const member of Object.values(value)) checkValue(member, depth + 1);
}

/**
 * Writes objects as JSON documents, one per line: YAML for `parseManifests`, but much faster to
 * write and read. For content that nobody reads.
 */
export function toJsonDocuments(objects: readonly object[]): string {
  return objects.map((object) => `${escapedForYaml(stringifyJson(object))}\n`).join('');
}

import type { JsonValue } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { readJsonStream } from './json-documents.ts';
import { checkObjectCount, type DecodedDocument, toObject, toObjects } from './objects.ts';
import { composeDocument } from './yaml/composed-document.ts';
import { NodeReader } from './yaml/node-reader.ts';
import { readBlockStyle } from './yaml/reader/block-reader.ts';
import { decodeYamlText, shortened } from './yaml/yaml-text.ts';

/**
 * Reads the objects of one manifest file as kubectl does: YAML or JSON, any number of documents,
 * lists flattened, empty documents skipped. Accepts a missing apiVersion as the empty string, and
 * missing metadata as an empty object. Stops at more than `maxObjects` documents.
 * @throws TerminalError that names the path, without a prefix for the step.
 */
export function parseManifests(
  path: string,
  content: Uint8Array,
  maxObjects = Number.POSITIVE_INFINITY,
): KubernetesObject[] {
  // Swapped arguments would read the path as a manifest.
  if (typeof path !== 'string' || !isBytes(content)) {
    throw new TypeError(
      'parseManifests(path, content) needs the path of the file, a string, and then its content, a Uint8Array',
    );
  }
  const documents = parseOrExplain(path, content, maxObjects);
  return documents.flatMap((document) =>
    document.value === null ? [] : toObjects(path, document),
  );
}

/**
 * Reads a manifest file document by document, for the conversion of registry bundles: like
 * `parseManifests`, but a list stays one object.
 * @throws TerminalError that does not name the file.
 */
export function parseObjects(
  content: Uint8Array,
  maxObjects = Number.POSITIVE_INFINITY,
): KubernetesObject[] {
  if (!isBytes(content)) {
    throw new TypeError('parseObjects(content) needs the content of a file, a Uint8Array');
  }
  const documents = parseDocuments(decodeYamlText(content), maxObjects);
  return documents.flatMap((document) => (document.value === null ? [] : [toObject(document)]));
}

/** Callers in JavaScript get no type errors. */
function isBytes(content: unknown): boolean {
  return content instanceof Uint8Array;
}

function parseOrExplain(
  path: string,
  content: Uint8Array,
  maxObjects: number,
): readonly DecodedDocument[] {
  try {
    return parseDocuments(decodeYamlText(content), maxObjects);
  } catch (error) {
    throw new TerminalError(`error parsing ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

// Text that starts with a brace is first read as JSON; the rest that is not JSON as YAML.
function parseDocuments(text: string, maxObjects: number): readonly DecodedDocument[] {
  if (!/^\s*\{/.test(text)) return parseYamlDocuments([], text, maxObjects);
  const { documents, end } = readJsonStream(text, maxObjects);
  if (end === text.length) return documents;
  if (documents.length > 1) throw new TerminalError(unexpectedCharacter(text, end));
  return parseYamlDocuments(documents, text.slice(end), maxObjects);
}

/** Earlier documents, and the documents of the text. */
function parseYamlDocuments(
  before: readonly DecodedDocument[],
  text: string,
  maxObjects: number,
): readonly DecodedDocument[] {
  const documents = [...before];
  for (const { text: document, firstLine } of splitDocuments(text)) {
    const value = readYamlDocument(document, firstLine);
    // Checked here, because a million documents would take too long to read.
    if (value !== null) checkObjectCount(documents.push({ value }), maxObjects);
  }
  return documents;
}

function unexpectedCharacter(text: string, offset: number): string {
  return `json: offset ${offset}: invalid character '${text.charAt(offset)}' looking for beginning of value`;
}

interface DocumentText {
  readonly text: string;
  /** Number of its first line in the file. */
  readonly firstLine: number;
}

/**
 * Splits YAML text at the lines that start with `---`, as kubectl does. Only spaces and a comment
 * may follow there. Drops empty documents.
 * @throws TerminalError for a line like `---foo`.
 */
export function* splitDocuments(text: string): Generator<DocumentText> {
  let start = 0;
  let firstLine = 1;
  for (let at = nextSeparator(text, 0); at !== -1; at = nextSeparator(text, start)) {
    if (at > start) yield { text: text.slice(start, at), firstLine };
    firstLine += countLines(text, start, at) + 1;
    start = endOfSeparator(text, at);
  }
  if (start < text.length) yield { text: text.slice(start), firstLine };
}

function nextSeparator(text: string, from: number): number {
  if (text.startsWith('---', from)) return from;
  const found = text.indexOf('\n---', from);
  return found === -1 ? -1 : found + 1;
}

function endOfSeparator(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  const end = newline === -1 ? text.length : newline + 1;
  const rest = text.slice(at + '---'.length, end).trim();
  if (rest !== '' && !rest.startsWith('#')) {
    throw new TerminalError(`invalid Yaml document separator: ${shortened(rest)}`);
  }
  return end;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    lines += 1;
  }
  return lines;
}

/**
 * Reads the first YAML document of a text as kubectl does: YAML 1.1 by Go's sigs.k8s.io/yaml. Null
 * without a document.
 * @throws TerminalError `error converting YAML to JSON: …`, with the line if a line is wrong.
 */
export function parseYaml(content: Uint8Array | string): JsonValue {
  return readYamlDocument(decodeYamlText(content), 1);
}

/** YAML 1.1 has additional line breaks, which kubectl ignores when it splits documents. */
function withPlainBreaks(text: string): string {
  return text.includes(nextLine) ? text.replaceAll(nextLine, '\n') : text;
}

const nextLine = '\x85';

/** Reads one document of decoded text; `firstLine` is the number of its first line. */
function readYamlDocument(written: string, firstLine: number): JsonValue {
  const text = withPlainBreaks(written);
  const read = readBlockStyle(text);
  if (read !== undefined) return read.value;
  return new NodeReader().read(composeDocument(text, firstLine)?.contents);
}

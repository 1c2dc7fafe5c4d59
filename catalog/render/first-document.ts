import type { JsonValue } from '../../api/json.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  decodeYamlText,
  parseYaml,
  readJsonStream,
  splitDocuments,
} from '../../core/manifests/index.ts';

/** The first document of a file; catalog tools read no others. */
export interface FirstDocument {
  readonly value: JsonValue;
  /** Source text of a document in JSON. */
  readonly json: string | undefined;
  /** Whether the file has more documents. */
  readonly more: boolean;
}

// If a brace comes after at most this many blanks, JSON is tried first.
const jsonStart = /^\s{0,29}\{/;

/**
 * Reads the first document of a manifest or metadata file like opm: a comment before the first
 * `---` is an empty document, and the only one that opm reads.
 * @throws TerminalError for anything but YAML or JSON, and `EOF` if there is no document.
 */
export function firstDocument(content: Uint8Array): FirstDocument {
  if (content.byteLength === 0) throw new TerminalError('EOF');
  const text = decodeYamlText(content);
  return (jsonStart.test(text) ? firstOfJson(text) : undefined) ?? firstOfYaml(text);
}

function firstOfJson(text: string): FirstDocument | undefined {
  const { documents, end } = readJsonStream(text);
  const [first, second] = documents;
  if (first === undefined) return undefined;
  return {
    value: first.value,
    json: first.text,
    more: second !== undefined || end < text.trimEnd().length,
  };
}

function firstOfYaml(text: string): FirstDocument {
  const documents = splitDocuments(text);
  const first = documents.next();
  if (first.done === true) throw new TerminalError('EOF');
  const value = parseYaml(first.value.text);
  // Asking for the next document also checks the line after the first.
  return { value, json: undefined, more: isThere(documents) };
}

function isThere(documents: ReturnType<typeof splitDocuments>): boolean {
  return documents.next().done !== true;
}

import type { JsonValue } from '../../api/json.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  decodeYamlText,
  parseYaml,
  readJsonStream,
  splitDocuments,
} from '../../core/manifests/index.ts';

/** The first document of a file: all that tools for catalogs read of it. */
export interface FirstDocument {
  readonly value: JsonValue;
  /** The document as it is written, where it is JSON. */
  readonly json: string | undefined;
  /** Whether the file has more documents. */
  readonly more: boolean;
}

// What starts with a brace within so many characters is tried as JSON first.
const jsonStart = /^\s{0,29}\{/;

/**
 * Reads the first document of a manifest or metadata file as opm does: a comment before the first
 * `---` is a document, empty, and the only one that is read.
 * @throws TerminalError for what is neither YAML nor JSON, and `EOF` where there is no document.
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
  // Asked for the next one, the line after the first is looked at.
  return { value, json: undefined, more: isThere(documents) };
}

function isThere(documents: ReturnType<typeof splitDocuments>): boolean {
  return documents.next().done !== true;
}

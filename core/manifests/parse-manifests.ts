import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { readJsonStream } from './json-documents.ts';
import { checkObjectCount } from './object-bounds.ts';
import { type DecodedDocument, toObject, toObjects } from './objects.ts';
import { splitDocuments } from './split-documents.ts';
import { decodeYamlText } from './yaml/yaml-text.ts';
import { readYamlDocument } from './yaml.ts';

/**
 * Reads the objects of one manifest file as kubectl does: YAML or JSON, any number of documents,
 * lists flattened, empty documents skipped. A missing apiVersion reads as the
 * empty string and missing metadata as an empty object: neither is refused here. Reading ends early
 * where there are more than `maxObjects` documents.
 * @throws TerminalError that names the path, without a prefix for the step it belongs to.
 */
export function parseManifests(
  path: string,
  content: Uint8Array,
  maxObjects = Number.POSITIVE_INFINITY,
): KubernetesObject[] {
  // The other way round, the path would be read as a manifest.
  if (typeof path !== 'string' || !isBytes(content)) {
    throw new TypeError(
      'parseManifests(path, content) is to be given the path of the file, a string, and then its bytes, a Uint8Array',
    );
  }
  const documents = parseOrExplain(path, content, maxObjects);
  return documents.flatMap((document) =>
    document.value === null ? [] : toObjects(path, document),
  );
}

/**
 * Reads a manifest file document by document, as the conversion of registry bundles does: as
 * `parseManifests`, but a list stays the one object that it is.
 * @throws TerminalError that does not name the file.
 */
export function parseObjects(
  content: Uint8Array,
  maxObjects = Number.POSITIVE_INFINITY,
): KubernetesObject[] {
  if (!isBytes(content)) {
    throw new TypeError('parseObjects(content) is to be given the bytes of a file, a Uint8Array');
  }
  const documents = parseDocuments(decodeYamlText(content), maxObjects);
  return documents.flatMap((document) => (document.value === null ? [] : [toObject(document)]));
}

/** Types do not tell those who write JavaScript. */
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

// What starts with a brace is tried as JSON first; from where it is none, it is read as YAML.
function parseDocuments(text: string, maxObjects: number): readonly DecodedDocument[] {
  if (!/^\s*\{/.test(text)) return parseYamlDocuments([], text, maxObjects);
  const { documents, end } = readJsonStream(text, maxObjects);
  if (end === text.length) return documents;
  if (documents.length > 1) throw new TerminalError(unexpectedCharacter(text, end));
  return parseYamlDocuments(documents, text.slice(end), maxObjects);
}

/** Those before, and what is read of the text. */
function parseYamlDocuments(
  before: readonly DecodedDocument[],
  text: string,
  maxObjects: number,
): readonly DecodedDocument[] {
  const documents = [...before];
  for (const { text: document, firstLine } of splitDocuments(text)) {
    const value = readYamlDocument(document, firstLine);
    // Of a million one cannot wait for the last.
    if (value !== null) checkObjectCount(documents.push({ value }), maxObjects);
  }
  return documents;
}

function unexpectedCharacter(text: string, offset: number): string {
  return `json: offset ${offset}: invalid character '${text.charAt(offset)}' looking for beginning of value`;
}

import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import { TerminalError } from '../../core/errors.ts';
import { isJsonObject, jsonType } from '../../core/manifests/index.ts';
import type { Blob, BlobPlace } from './blob.ts';
import { BlobError, bounded } from './blob-error.ts';
import { goPrinted, goPrintedAsBool } from './go-yaml/go-text.ts';
import { indentedJson, jsonText } from './json/json-text.ts';
import { ownText } from './json/own-text.ts';

const nowhere: BlobPlace = { file: '', start: 0, end: 0, line: 1 };

/**
 * Reads an object as a blob.
 * @throws BlobError for a missing schema, TerminalError for two keys that differ only in case, or
 * for a schema, package or name that is not a string.
 */
export function blobOfValue(value: JsonObject, place: BlobPlace = nowhere): Blob {
  return withSchema(blobOfDecoded(value, place));
}

/** Reads a blob that may lack a schema; opm checks the schema last. */
export function blobOfDecoded(value: JsonObject, place: BlobPlace): Blob {
  const keys = uniqueKeys(value);
  return {
    schema: textAt(value, keys, 'schema'),
    package: ownText(textAt(value, keys, 'package')),
    name: ownText(textAt(value, keys, 'name')),
    value,
    place,
  };
}

/** @throws BlobError for a blob without a schema. */
export function withSchema(blob: Blob): Blob {
  if (blob.schema !== '') return blob;
  throw new BlobError(missingSchema(`${jsonText(blob.value)}\n`), blob.place);
}

/** opm's error text for a document without a schema. */
export function missingSchema(written: string): string {
  return `object '${bounded(written)}' is missing root schema field`;
}

/** Keys by their case-folded names. */
function uniqueKeys(value: JsonObject): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  let duplicates: Map<string, string[]> | undefined;
  for (const key of Object.keys(value)) {
    const folded = foldCase(key);
    const other = keys.get(folded);
    if (other === undefined) {
      keys.set(folded, key);
      continue;
    }
    duplicates ??= new Map();
    duplicates.set(folded, [...(duplicates.get(folded) ?? [other]), key]);
  }
  if (duplicates !== undefined) throw new TerminalError(duplicateKeys(duplicates));
  return keys;
}

function duplicateKeys(duplicates: ReadonlyMap<string, readonly string[]>): string {
  const texts = [...duplicates].map(
    ([folded, keys]) =>
      `duplicate keys for key ${goQuote(folded)}: [${keys.toSorted(compareBytes).join(' ')}]`,
  );
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

const lowerCase = /^[a-z0-9._-]*$/;

/** A text after Unicode case folding: `ſchema` becomes `schema`. */
export function foldCase(text: string): string {
  if (lowerCase.test(text)) return text;
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

function textAt(value: JsonObject, keys: ReadonlyMap<string, string>, name: string): string {
  const key = keys.get(name);
  if (key === undefined) return '';
  const member = value[key];
  if (typeof member === 'string') return member;
  throw new TerminalError(
    bounded(
      `expected value for key ${goQuote(key)} to be a string, got ${goPrintedAsBool(member)}: ${goPrinted(member)}`,
    ),
  );
}

/** @throws TerminalError for anything but an object, in the words of Go's decoder. */
export function objectOf(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  const written = jsonText(value);
  const offset = Array.isArray(value) ? 1 : Buffer.byteLength(written);
  const marked = Array.isArray(value)
    ? `[ <== ${indentedJson(value, '').slice(1)}`
    : `${written} <==`;
  throw new TerminalError(
    `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}` +
      ` at offset ${offset} (indicated by <==)\n${bounded(marked)}`,
  );
}

import { goQuote } from '../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import { isMap, listOf, stringAt } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import {
  any,
  type Blob,
  BlobError,
  blobOfValue,
  decodeAs,
  listOfShape,
  type StructShape,
  struct,
  text,
} from '../blobs/index.ts';
import { firstDocument } from '../render/index.ts';

/** A template that lists blobs, and its substitutions. */
export interface EntriesTemplate {
  /** @throws BlobError for a blob without a schema */
  readonly blobs: () => readonly Blob[];
  readonly substitutions: readonly Substitution[];
}

/** A bundle that takes the place of another in channels. */
export interface Substitution {
  /** Image of the new bundle. */
  readonly name: string;
  /** Name of the bundle that it replaces. */
  readonly base: string;
}

const basic = struct('basic.BasicTemplateData', { schema: text, entries: anyList() });

const substitutes = struct('substitutes.SubstitutesTemplateData', {
  schema: text,
  entries: anyList(),
  substitutions: listOfShape(struct('substitutes.Substitute', { name: text, base: text })),
});

function anyList(): StructShape['fields'][string]['shape'] {
  return { kind: 'list', of: any, type: '[]*declcfg.Meta' };
}

const shapes: Readonly<Record<string, StructShape>> = {
  'olm.template.basic': basic,
  'olm.template.substitutes': substitutes,
};

/**
 * Reads a template of blobs.
 * @throws TerminalError in opm's words for another schema, and for an invalid blob.
 */
export function readEntries(content: Uint8Array, schema: keyof typeof shapes): EntriesTemplate {
  const value = readDocument(content, 'decoding template schema');
  let data: JsonObject;
  let entries: readonly (Blob | BlobError)[];
  try {
    data = (decodeAs(shapes[schema] ?? basic, value) ?? {}) as JsonObject;
    entries = listOf(data['entries']).map((entry) => blobOf(entry as JsonValue));
  } catch (error) {
    throw new TerminalError(`unmarshalling template: ${errorMessage(error)}`, { cause: error });
  }
  const found = stringAt(data, 'schema') ?? '';
  if (found !== schema) {
    throw new TerminalError(
      `template has unknown schema (${goQuote(found)}), should be ${goQuote(schema)}`,
    );
  }
  return {
    blobs: () => entries.map(blobOrThrow),
    substitutions: listOf(data['substitutions']).map(substitutionOf),
  };
}

function readDocument(content: Uint8Array, step: string): JsonValue {
  try {
    return firstDocument(content).value;
  } catch (error) {
    throw new TerminalError(`${step}: ${errorMessage(error)}`, { cause: error });
  }
}

/** opm reports a missing schema later than other errors of a blob. */
function blobOf(entry: JsonValue): Blob | BlobError {
  if (isMap(entry)) {
    try {
      return blobOfValue(entry);
    } catch (error) {
      if (error instanceof BlobError && error.message.endsWith(noSchema)) return error;
      throw error;
    }
  }
  throw new TerminalError(
    `json: cannot unmarshal ${Array.isArray(entry) ? 'array' : typeof entry} into Go value of type map[string]interface {}`,
  );
}

const noSchema = 'is missing root schema field';

function blobOrThrow(entry: Blob | BlobError): Blob {
  if (entry instanceof BlobError) throw entry;
  return entry;
}

function substitutionOf(value: unknown): Substitution {
  return { name: stringAt(value, 'name') ?? '', base: stringAt(value, 'base') ?? '' };
}

/** @throws TerminalError for a text without a schema */
export function schemaOfTemplate(content: Uint8Array): string {
  const value = readDocument(content, 'decoding template input');
  let schema: string | undefined;
  try {
    schema = stringAt(
      decodeAs(struct('struct { Schema string }', { schema: text }), value),
      'schema',
    );
  } catch (error) {
    throw new TerminalError(`unmarshalling template schema: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  if (schema !== undefined && schema !== '') return schema;
  throw new TerminalError("template input missing required 'schema' field");
}

import type { JsonObject, JsonValue } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { goJson, sortedMap } from '../../api/object-hash.ts';
import { TerminalError } from '../errors.ts';
import { isJsonObject, jsonType } from './json-type.ts';
import { checkMetadata } from './metadata-types.ts';
import { shortened } from './yaml/yaml-error.ts';

export interface DecodedDocument {
  readonly value: JsonValue;
  /** The document's JSON as written, where it is written in JSON. */
  readonly text?: string;
}

/**
 * The objects of one document: itself, or the items of a list. As for kubectl, a list is whatever
 * has `items`; an item without a kind takes the list's apiVersion, and its kind without `List`.
 * @throws TerminalError `unable to decode "<path>": …`
 */
export function toObjects(path: string, document: DecodedDocument): KubernetesObject[] {
  const problem = findProblem(document);
  if (problem !== undefined) throw new TerminalError(`unable to decode "${path}": ${problem}`);
  const object = document.value as JsonObject;
  const items = object['items'];
  if (items === undefined) return [complete(object)];
  return (Array.isArray(items) ? items : []).flatMap((item: JsonValue) =>
    toObjects(path, { value: withKindOf(object, item) }),
  );
}

/**
 * The object of one document; a list stays the one object that it is.
 * @throws TerminalError without a path.
 */
export function toObject(document: DecodedDocument): KubernetesObject {
  const problem = findProblem(document);
  if (problem !== undefined) throw new TerminalError(problem);
  return complete(document.value as JsonObject);
}

function findProblem({ value, text }: DecodedDocument): string | undefined {
  if (!isJsonObject(value)) {
    return `json: cannot unmarshal ${jsonType(value)} into Go value of type unstructured.detector`;
  }
  const items = value['items'];
  if (items !== undefined && items !== null && !Array.isArray(items)) {
    return `json: cannot unmarshal ${jsonType(items)} into Go struct field decodeList.items of type []json.RawMessage`;
  }
  if (typeof value['kind'] !== 'string' || value['kind'] === '') {
    return `Object 'Kind' is missing in '${shortened(text ?? goJson(sorted(value)))}'`;
  }
  return checkMetadata(value);
}

function withKindOf(list: JsonObject, item: JsonValue): JsonValue {
  const listKind = list['kind'];
  const kind = typeof listKind === 'string' ? listKind.replace(/List$/, '') : '';
  if (!isJsonObject(item) || item['kind'] !== undefined || kind === '') return item;
  return { ...item, kind, apiVersion: list['apiVersion'] };
}

// The type promises both, and what reads an object later need not ask.
function complete(object: JsonObject): KubernetesObject {
  const { apiVersion, metadata } = object;
  if (typeof apiVersion === 'string' && isJsonObject(metadata))
    return object as unknown as KubernetesObject;
  return {
    ...object,
    apiVersion: apiVersion ?? '',
    metadata: metadata ?? {},
  } as unknown as KubernetesObject;
}

// Go writes the keys of a map in byte order.
function sorted(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value ?? null;
  return sortedMap(Object.fromEntries(Object.entries(value).map(([k, v]) => [k, sorted(v)])));
}

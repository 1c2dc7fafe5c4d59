import { type JsonObject, type JsonValue, stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { goJson, sortedMap } from '../../api/object-hash.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { TerminalError } from '../errors.ts';
import { checkMetadata, isJsonObject, jsonType } from './json-types.ts';
import { shortened } from './yaml/yaml-text.ts';

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

interface LeftOut {
  /** What is to be applied. */
  readonly objects: readonly KubernetesObject[];
  /** One sentence for each object that is not, and why. */
  readonly leftOut: readonly string[];
}

/** The objects without those that a class has annotated to be left out. */
export function withoutLeftOut(rendered: readonly KubernetesObject[]): LeftOut {
  const leftOut: string[] = [];
  const objects = rendered.filter((object) => {
    const because = reasonOf(object);
    if (because === undefined) return true;
    const { apiVersion, kind, metadata } = object;
    leftOut.push(`${kind} "${metadata.name ?? ''}" of ${apiVersion} is left out: ${because}`);
    return false;
  });
  return { objects, leftOut };
}

function reasonOf({ metadata }: KubernetesObject): string | undefined {
  // Objects of bundles are read without a schema.
  const annotations = metadata?.annotations as Readonly<Record<string, unknown>> | null | undefined;
  const because = annotations?.[annotation.leftOut];
  return typeof because === 'string' ? because : undefined;
}

/** What the API server takes in one request. */
const maxObjectBytes = 3 * 1024 * 1024;

const shownName = 100;

/** @throws TerminalError where there are more. */
export function checkObjectCount(count: number, maxObjects: number): void {
  if (count <= maxObjects) return;
  throw new TerminalError(
    `bundle has more than ${maxObjects} objects (--max-content-entries): split it`,
  );
}

/** @throws TerminalError that names the object. */
export function checkObjectSize(object: KubernetesObject): void {
  // Nearly all are far from it, and to see that takes a fraction of the time of writing them.
  if (bytesLeft(object, maxObjectBytes) >= 0) return;
  const bytes = Buffer.byteLength(stringifyJson(object));
  if (bytes <= maxObjectBytes) return;
  throw new TerminalError(
    `${nameOf(object)} has ${bytes} bytes as JSON, more than the ${maxObjectBytes} that the API server takes: split it or make it smaller`,
  );
}

/** A control character is written as `\u0001`; nothing else takes as many bytes. */
const longestCharacter = 6;
/** The longest number, with a comma or colon, and more than quotes or brackets with them. */
const longestScalar = 26;

/** What is left of so many bytes after a value's JSON, were it as long as it can be; no less than -1. */
function bytesLeft(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - longestScalar - longestCharacter * value.length;
  // Its digits are not counted without writing them.
  if (typeof value === 'bigint') return -1;
  if (typeof value !== 'object' || value === null) return bytes - longestScalar;
  let left = bytes - longestScalar;
  for (const key in value) {
    left = bytesLeft(
      (value as Readonly<Record<string, unknown>>)[key],
      left - longestScalar - longestCharacter * key.length,
    );
    if (left < 0) return -1;
  }
  return left;
}

// A third party's object may lack what the type promises.
function nameOf({ kind, metadata }: Partial<KubernetesObject>): string {
  const path = [metadata?.namespace, metadata?.name].filter(Boolean).join('/');
  return `${String(kind).slice(0, shownName)} ${JSON.stringify(path.slice(0, shownName))}`;
}

import { type JsonObject, type JsonValue, stringifyJson } from '../../api/json.ts';
import { stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { goJson, sortedMap } from '../../api/object-hash.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type { LeftOutObject } from '../contracts/applier.ts';
import { TerminalError } from '../errors.ts';
import { checkMetadata, isJsonObject, jsonType } from './json-types.ts';
import { shortened } from './yaml/yaml-text.ts';

export interface DecodedDocument {
  readonly value: JsonValue;
  /** The document's JSON text, when it is written in JSON. */
  readonly text?: string;
}

/**
 * The objects of one document: itself, or the items of a list. As for kubectl, every object with
 * `items` is a list; an item without a kind gets the list's apiVersion, and its kind without
 * `List`.
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
 * The object of one document; a list stays one object.
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

// Adds apiVersion and metadata, which the type promises to later readers.
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
  /** Objects to apply. */
  readonly objects: readonly KubernetesObject[];
  readonly leftOut: readonly LeftOutObject[];
}

/** Maximum characters of a reason, which may quote the object. */
const longestReason = 500;

/** The objects except those that a class has annotated to be left out. */
export function withoutLeftOut(rendered: readonly KubernetesObject[]): LeftOut {
  const leftOut: LeftOutObject[] = [];
  const objects = rendered.filter((object) => {
    const because = reasonOf(object);
    if (because === undefined) return true;
    leftOut.push({ ...identityOf(object), because: because.slice(0, longestReason) });
    return false;
  });
  return { objects, leftOut };
}

/** An object that nobody applies is not validated: its fields may have any type. */
function identityOf(object: KubernetesObject): Omit<LeftOutObject, 'because'> {
  const namespace = stringAt(object.metadata, 'namespace');
  return {
    apiVersion: stringAt(object, 'apiVersion') ?? '',
    kind: stringAt(object, 'kind') ?? '',
    ...(namespace === undefined ? {} : { namespace }),
    name: stringAt(object.metadata, 'name') ?? '',
  };
}

/** One sentence about an object that is left out, with the reason. */
export function leftOutMessage({ apiVersion, kind, name, because }: LeftOutObject): string {
  return `${kind} "${name}" of ${apiVersion} is left out: ${because}`;
}

function reasonOf({ metadata }: KubernetesObject): string | undefined {
  // Bundle objects have no validated schema, so annotations may have any type.
  const annotations = metadata?.annotations as Readonly<Record<string, unknown>> | null | undefined;
  const because = annotations?.[annotation.leftOut];
  return typeof because === 'string' ? because : undefined;
}

/** Maximum bytes of an API request. */
const maxObjectBytes = 3 * 1024 * 1024;

const shownName = 100;

/** @throws TerminalError when there are more. */
export function checkObjectCount(count: number, maxObjects: number): void {
  if (count <= maxObjects) return;
  throw new TerminalError(
    `bundle has more than ${maxObjects} objects (--max-content-entries): split it`,
  );
}

/** @throws TerminalError that names the object. */
export function checkObjectSize(object: KubernetesObject): void {
  // Nearly all objects are far smaller; an estimate is much faster than writing them.
  if (bytesLeft(object, maxObjectBytes) >= 0) return;
  const bytes = Buffer.byteLength(stringifyJson(object));
  if (bytes <= maxObjectBytes) return;
  throw new TerminalError(
    `${nameOf(object)} has ${bytes} bytes as JSON, more than the ${maxObjectBytes} that the API server takes: split it or make it smaller`,
  );
}

/** A control character becomes `\u0001`, the longest encoding. */
const longestCharacter = 6;
/** The longest number with a comma or colon; also more than quotes or brackets need. */
const longestScalar = 26;

/** The rest of `bytes` after a value's JSON in its longest possible form; at least -1. */
function bytesLeft(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - longestScalar - longestCharacter * value.length;
  // Counting its digits would mean writing them.
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

// A third party's object may lack fields that the type promises.
function nameOf({ kind, metadata }: Partial<KubernetesObject>): string {
  const path = [metadata?.namespace, metadata?.name].filter(Boolean).join('/');
  return `${String(kind).slice(0, shownName)} ${JSON.stringify(path.slice(0, shownName))}`;
}

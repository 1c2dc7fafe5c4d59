import { type JsonObject, type JsonValue, stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { checkFiles, faultOfFiles } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import {
  checkMetadata,
  checkObjectCount,
  checkObjectSize,
  isJsonObject,
} from '../../manifests/index.ts';
import { pieceBytes } from './protocol/frames.ts';

/**
 * A worker process checks its handler's result itself, so that the manager receives only what it
 * can handle. The manager does the same with the results of classes in its own process.
 */
export interface ResultOptions {
  /** The called class, for messages: `class "acme"`. */
  readonly callee: string;
  readonly limits: ContentLimits;
}

/**
 * @throws Error when a handler returned nothing, TerminalError when its result is not a tree of
 * files, or exceeds the limits.
 */
export function checkedFiles(result: unknown, { callee, limits }: ResultOptions): BundleFiles {
  if (result === undefined) throw new Error('the handler returned no files');
  const problem = faultOfFiles(result);
  if (problem !== undefined) throw new TerminalError(`${callee} returned no files: ${problem}`);
  checkFiles(result as BundleFiles, limits);
  return result as BundleFiles;
}

/**
 * A handler's objects as JSON, in pieces; one empty piece for no objects.
 * @throws Error when a handler returned nothing, TerminalError for an invalid object, or when there
 * are too many.
 */
export function* objectTexts(
  all: unknown,
  { callee, limits }: ResultOptions,
): Generator<readonly string[]> {
  if (all === undefined) throw new Error('the handler returned no objects');
  if (!Array.isArray(all)) throw new TerminalError(`${callee} returned no array of objects`);
  checkObjectCount(all.length, limits.maxEntries);
  let texts: string[] = [];
  let size = 0;
  let total = 0;
  for (const [index, object] of all.entries()) {
    const text = textOf(object, { callee, index });
    const bytes = Buffer.byteLength(text);
    if (bytes > pieceBytes) checkObjectSize(object as KubernetesObject);
    texts.push(text);
    size += bytes;
    total += bytes;
    if (total > limits.maxBytes) {
      throw new TerminalError(
        `${callee} made objects of more than ${limits.maxBytes} bytes (--max-content-bytes) of the bundle: split it`,
      );
    }
    if (size < pieceBytes) continue;
    yield texts;
    texts = [];
    size = 0;
  }
  if (texts.length > 0 || all.length === 0) yield texts;
}

/** The position of an object in a result. */
interface ObjectPlace {
  readonly callee: string;
  /** Starts at 0. */
  readonly index: number;
}

function textOf(object: unknown, place: ObjectPlace): string {
  const problem = problemOfJson(object, { around: [], path: [] });
  if (problem !== undefined) throw unfit(place, problem);
  checkObject(object, place);
  return stringifyJson(object);
}

/**
 * A handler's object, with the types that its readers rely on.
 * @throws TerminalError that names class and object.
 */
export function checkObject(value: unknown, place: ObjectPlace): KubernetesObject {
  if (!isJsonObject(value as JsonValue)) throw unfit(place, 'is not an object');
  const object = value as JsonObject;
  const { kind, apiVersion, metadata } = object;
  if (typeof kind !== 'string' || kind === '') throw unfit(place, 'has no kind');
  const named = { ...place, kind };
  if (typeof apiVersion !== 'string') throw unfit(named, 'has no apiVersion');
  if (!isJsonObject(metadata)) throw unfit(named, 'has no metadata');
  const problem = checkMetadata(object);
  if (problem !== undefined) throw unfit(named, `cannot be applied: ${problem}`);
  return object as unknown as KubernetesObject;
}

function unfit(
  { callee, index, kind }: ObjectPlace & { readonly kind?: string },
  problem: string,
): TerminalError {
  const named = kind === undefined ? '' : ` (${kind.slice(0, 100)})`;
  return new TerminalError(
    `object ${index + 1}${named} of what ${callee} made of the bundle ${problem}`,
  );
}

/** Deeper than any Kubernetes object; the readers of an object use recursion. */
const maxDepth = 250;

interface Walk {
  /** The values that contain the present one. */
  readonly around: unknown[];
  readonly path: (string | number)[];
}

/**
 * The reason why a value is not JSON, with its place. Ignores undefined properties, which
 * JSON.stringify omits. Reports functions and Maps, which JSON.stringify would omit or empty
 * silently.
 */
function problemOfJson(value: unknown, walk: Walk): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : at(walk, `is ${value}, which JSON does not have`);
    case 'object':
      return value === null ? undefined : problemInside(value, walk);
    default:
      return at(walk, `is a ${typeof value}`);
  }
}

function problemInside(value: object, walk: Walk): string | undefined {
  if (walk.around.includes(value)) return at(walk, 'refers to what it is a part of');
  if (walk.around.length >= maxDepth) return `is nested more than ${maxDepth} deep`;
  if (!Array.isArray(value) && !isPlain(value)) return at(walk, `is ${nameOf(value)}`);
  walk.around.push(value);
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries as Iterable<[string | number, unknown]>) {
    walk.path.push(key);
    const problem = problemOfJson(item, walk);
    if (problem !== undefined) return problem;
    walk.path.pop();
  }
  walk.around.pop();
  return undefined;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // From another realm, such as a sandbox of the class itself.
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
  );
}

function nameOf(value: object): string {
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name;
  return `a ${typeof name === 'string' ? name.slice(0, 50) : 'class of its own'}, which is not JSON`;
}

const longestPath = 200;

function at({ path }: Walk, problem: string): string {
  const text = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .slice(0, longestPath);
  return text === '' ? problem : `cannot be written as JSON: ${text} ${problem}`;
}

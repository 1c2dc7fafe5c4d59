import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { TerminalError } from '../errors.ts';

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

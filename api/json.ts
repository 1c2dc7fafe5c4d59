/**
 * A JSON value as Kubernetes objects hold it. Integers beyond 2^53 are `bigint`, so that they keep
 * every digit between a manifest and the API server.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object; a member that is `undefined` is left out when it is written. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** JSON text of a value; a `bigint` is written as the integer it is. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    // A replacer makes writing several times slower; without one a `bigint` throws.
    return JSON.stringify(value, undefined, indent);
  } catch {
    return JSON.stringify(value, writeBigInt, indent);
  }
}

/** Parses JSON text; an integer that a double cannot hold exactly becomes a `bigint`. */
export function parseJson(text: string): JsonValue {
  return needsExactIntegers(text)
    ? (JSON.parse(text, readBigInt) as JsonValue)
    : (JSON.parse(text) as JsonValue);
}

const sixteenDigits = /[0-9]{16}/;

/** A reviver makes parsing several times slower, so it runs only where a long number may be. */
export function needsExactIntegers(text: string): boolean {
  return sixteenDigits.test(text);
}

function writeBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(value.toString()) : value;
}

function readBigInt(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?[0-9]+$/.test(source) ? BigInt(source) : value;
}

// TypeScript's library does not declare JSON.rawJSON yet; Node 22 and later have it.
function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(text);
}

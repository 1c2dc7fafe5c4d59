import type { JsonObject } from './json.ts';

/** A JSON map: neither null nor a list. */
export function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value, or an empty map for anything else: objects of a bundle may contain any type anywhere.
 */
export function mapOf(value: unknown): JsonObject {
  return isMap(value) ? value : {};
}

/** The value, or an empty list for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The value below a path of map keys; undefined where a step is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isMap(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function integerAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'number' || typeof found === 'bigint' ? Number(found) : undefined;
}

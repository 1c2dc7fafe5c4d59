import type { JsonObject, JsonValue } from '../../api/json.ts';
import { isMap } from '../../api/json-fields.ts';

/** The key of a field in an object: names of fields match in any case. */
export function keyOf(object: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name;
  const folded = name.toLowerCase();
  return Object.keys(object).find((key) => key.toLowerCase() === folded);
}

export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  const key = keyOf(object, name);
  return key === undefined ? undefined : object[key];
}

/** The text of a field; empty for anything else. */
export function textAt(value: JsonValue | undefined, name: string): string {
  const member = isMap(value) ? memberOf(value, name) : undefined;
  return typeof member === 'string' ? member : '';
}

/** The object with a new value for a field, under its existing key. */
export function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return { ...object, [keyOf(object, name) ?? name]: value };
}

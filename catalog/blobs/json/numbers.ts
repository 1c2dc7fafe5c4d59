import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { TerminalError } from '../../../core/errors.ts';

/** Maximum nesting of a blob: far above any real one, and small enough for the stack. */
const maxNesting = 1000;

/**
 * The value with every number as the float64 that Go decodes. The same value if each number is one.
 * @throws TerminalError for numbers beyond a float64, and for more than 1000 levels of nesting.
 */
export function withGoNumbers(value: JsonValue): JsonValue {
  return hasExactInteger(value, 1) ? converted(value) : value;
}

function hasExactInteger(value: JsonValue | undefined, depth: number): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value === 'number') return checkedNumber(value);
  if (typeof value !== 'object' || value === null) return false;
  if (depth > maxNesting) throw new TerminalError('exceeded max depth');
  return Array.isArray(value)
    ? anyHasExactInteger(value as readonly JsonValue[], depth + 1)
    : memberHasExactInteger(value as JsonObject, depth + 1);
}

// Checks all items, because any number may be beyond a float64.
function anyHasExactInteger(list: readonly JsonValue[], depth: number): boolean {
  let found = false;
  for (const item of list) found = hasExactInteger(item, depth) || found;
  return found;
}

function memberHasExactInteger(object: JsonObject, depth: number): boolean {
  let found = false;
  for (const key of Object.keys(object)) found = hasExactInteger(object[key], depth) || found;
  return found;
}

function checkedNumber(value: number): false {
  if (Number.isFinite(value)) return false;
  throw new TerminalError('json: cannot unmarshal a number into Go value of type float64');
}

function converted(value: JsonValue | undefined): JsonValue {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(converted);
  // Object.fromEntries sets all members as data, even `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, converted(member)]));
}

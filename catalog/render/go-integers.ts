import type { JsonValue } from '../../api/json.ts';

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const uint64 = { least: int64.least, most: 2n ** 64n - 1n };

/** A value with the numbers of Kubernetes objects: signed integers of 64 bits, else doubles. */
export function withObjectNumbers(value: JsonValue): JsonValue {
  return withIntegers(value, int64);
}

/** A value with Go's numbers for YAML: signed or unsigned integers of 64 bits, else doubles. */
export function withYamlNumbers(value: JsonValue): JsonValue {
  return withIntegers(value, uint64);
}

function withIntegers(value: JsonValue, range: typeof int64): JsonValue {
  if (Object.is(value, -0) && range === int64) return 0;
  if (typeof value === 'bigint') {
    return value >= range.least && value <= range.most ? value : Number(value);
  }
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item) => withIntegers(item, range));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withIntegers(member as JsonValue, range)]),
  );
}

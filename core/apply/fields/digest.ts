import { createHash } from 'node:crypto';
import { stringifyJson } from '../../../api/json.ts';
import { isMap } from './json-fields.ts';

/** SHA-256 of a JSON value in base64url; the order of map keys does not count. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(stringifyJson(sorted(value)))
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  // Built from entries: plain assignment would lose a key named __proto__.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

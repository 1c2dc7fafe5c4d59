import { isDeepStrictEqual } from 'node:util';
import { type JsonValue, stringifyJson } from '../../../api/json.ts';
import { goQuote } from './go-text.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { unsupported } from './violations.ts';

/** Null is one of no values, even where the schema lists it: the API server's validator says so. */
export function checkEnum({ value, schema, path }: Subject): Outcome | undefined {
  const { enum: supported = [] } = schema;
  if (supported.length === 0) return undefined;
  if (value !== null && supported.some((each) => isSame(each, value))) return undefined;
  const texts = supported.map((each) =>
    goQuote(typeof each === 'string' ? each : stringifyJson(each)),
  );
  return Outcome.of(unsupported(path, value, texts));
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return typeof a === 'bigint' || typeof b === 'bigint'
    ? typeof a !== 'object' && typeof b !== 'object' && String(a) === String(b)
    : isDeepStrictEqual(a, b);
}

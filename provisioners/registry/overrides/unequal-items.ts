import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import { isMap, itemsOf } from '../pod-template/template-parts.ts';

/** A list with those items appended that none of it is equal to. */
export function withUnequalItems(
  list: JsonValue | undefined,
  added: readonly JsonObject[],
): readonly JsonValue[] {
  const written = itemsOf(list);
  const known = written.filter(isMap).map(saidBy);
  return [
    ...written,
    ...added.filter((item) => !known.some((each) => isDeepStrictEqual(each, saidBy(item)))),
  ];
}

/** To the API, an empty text is the same as none. */
function saidBy(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== null && value !== ''),
  );
}

import type { JsonObject } from '../../../api/json.ts';
import { isMap, listOf } from '../../../api/json-fields.ts';
import { fieldPath, itemPath } from './field-tree.ts';
import { isSubset, type Quantities, quantitiesIn } from './subset.ts';

/** Fields that identify the items of a list, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'uid', 'type', 'mountPath', 'containerPort', 'port'] as const;

/**
 * Paths of the smallest fields of `desired` that `live` lacks. Lists whose items have a key may
 * have other items between them; other lists are compared by index.
 */
export function missingFields(
  desired: unknown,
  live: unknown,
  place: Place = { path: '', quantities: 'named' },
): readonly string[] {
  if (isSubset(desired, live, place.quantities)) return [];
  if (isMap(desired) && isMap(live)) return missingInMap(desired, live, place);
  if (Array.isArray(desired) && Array.isArray(live)) return missingItems(desired, live, place);
  return [place.path];
}

interface Place {
  readonly path: string;
  readonly quantities: Quantities;
}

function missingInMap(
  desired: JsonObject,
  live: JsonObject,
  { path, quantities }: Place,
): readonly string[] {
  return Object.keys(desired).flatMap((key) =>
    missingFields(desired[key], Object.hasOwn(live, key) ? live[key] : undefined, {
      path: fieldPath(path, key),
      quantities: quantitiesIn(desired, key, quantities),
    }),
  );
}

function missingItems(
  desired: readonly unknown[],
  live: readonly unknown[],
  { path, quantities }: Place,
): readonly string[] {
  const key = itemKeys.find((each) => tellsApart(each, desired) && tellsApart(each, live));
  if (key === undefined) {
    if (desired.length !== live.length) return [path];
    return desired.flatMap((item, index) =>
      missingFields(item, live[index], { path: itemPath(path, index), quantities }),
    );
  }
  return desired.flatMap((item) => {
    const name = isMap(item) ? item[key] : undefined;
    const there = listOf(live).find((other) => isMap(other) && other[key] === name);
    return missingFields(item, there, { path: itemPath(path, { [key]: name }), quantities });
  });
}

/** True when each item is a map with a unique value in this field. */
function tellsApart(key: string, items: readonly unknown[]): boolean {
  const values = items.map((item) => (isMap(item) ? item[key] : undefined));
  return (
    values.every((value) => typeof value === 'string' || typeof value === 'number') &&
    new Set(values).size === items.length
  );
}

import type { JsonObject } from '../../../api/json.ts';
import { fieldPath, itemPath } from './field-path.ts';
import { isMap, listOf } from './json-fields.ts';
import { isSubset } from './live-match.ts';

/** Which fields tell the items of a list apart, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'uid', 'type', 'mountPath', 'containerPort', 'port'] as const;

/**
 * Paths of what `desired` asks for and `live` does not say, the smallest fields. Items that are told
 * apart by a key may have others between them; other lists are compared by index.
 */
export function missingFields(desired: unknown, live: unknown, path = ''): readonly string[] {
  // The name of the last field says whether values are quantities: so maps are compared with it.
  if (isSubset(desired, live)) return [];
  if (isMap(desired) && isMap(live)) {
    return Object.keys(desired).flatMap((key) => missingField(desired, live, fieldStep(path, key)));
  }
  if (Array.isArray(desired) && Array.isArray(live)) return missingItems(desired, live, path);
  return [path];
}

interface Step {
  readonly key: string;
  readonly path: string;
}

function fieldStep(parent: string, key: string): Step {
  return { key, path: fieldPath(parent, key) };
}

function missingField(
  desired: JsonObject,
  live: JsonObject,
  { key, path }: Step,
): readonly string[] {
  const there = Object.hasOwn(live, key) ? live[key] : undefined;
  if (isSubset({ [key]: desired[key] }, { [key]: there })) return [];
  return missingFields(desired[key], there, path);
}

function missingItems(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: string,
): readonly string[] {
  const key = itemKeys.find((each) => tellsApart(each, desired) && tellsApart(each, live));
  if (key === undefined) {
    if (desired.length !== live.length) return [path];
    return desired.flatMap((item, index) =>
      missingFields(item, live[index], itemPath(path, index)),
    );
  }
  return desired.flatMap((item) => {
    const name = isMap(item) ? item[key] : undefined;
    const there = listOf(live).find((other) => isMap(other) && other[key] === name);
    return missingFields(item, there, itemPath(path, { [key]: name }));
  });
}

/** True where each item is a map that has the field, with a value of its own. */
function tellsApart(key: string, items: readonly unknown[]): boolean {
  const values = items.map((item) => (isMap(item) ? item[key] : undefined));
  return (
    values.every((value) => typeof value === 'string' || typeof value === 'number') &&
    new Set(values).size === items.length
  );
}

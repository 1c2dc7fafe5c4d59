import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../api/json.ts';
import { isMap } from '../fields/json-fields.ts';

/** A field that two states of an object have differently; undefined where one has it not at all. */
export interface FieldDifference {
  /** Such as `spec.template.spec.containers[name="app"].image`; empty for the whole. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Which fields tell the items of a list apart, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'type', 'mountPath', 'containerPort', 'port', 'uid'] as const;

/** The smallest fields that differ: a map or a list that only one side has is one of them. */
export function fieldDifferences(before: unknown, after: unknown, path = ''): FieldDifference[] {
  if (isMap(before) && isMap(after)) return mapDifferences(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  return isDeepStrictEqual(before, after) ? [] : [{ path, before, after }];
}

function mapDifferences(before: JsonObject, after: JsonObject, path: string): FieldDifference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    fieldDifferences(own(before, key), own(after, key), childPath(path, key)),
  );
}

function own(map: JsonObject, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function childPath(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function listDifferences(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): FieldDifference[] {
  const key = itemKeys.find((each) => isKeyOf(each, before) && isKeyOf(each, after));
  if (key === undefined) return byIndex(before, after, path);
  const [left, right] = [itemsBy(key, before), itemsBy(key, after)];
  const names = new Set([...left.keys(), ...right.keys()]);
  const found = [...names].flatMap((name) =>
    fieldDifferences(left.get(name), right.get(name), `${path}[${key}=${JSON.stringify(name)}]`),
  );
  // The same items in another order are another list.
  if (found.length > 0 || isDeepStrictEqual([...left.keys()], [...right.keys()])) return found;
  return [{ path, before, after }];
}

function byIndex(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): FieldDifference[] {
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, index) =>
    fieldDifferences(before[index], after[index], `${path}[${index}]`),
  ).flat();
}

/** True where each item is a map that has the field, with a value of its own. */
function isKeyOf(key: string, items: readonly unknown[]): boolean {
  const values = new Set(items.map((item) => (isMap(item) ? own(item, key) : undefined)));
  return values.size === items.length && values.values().every(isScalar);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function itemsBy(key: string, items: readonly unknown[]): ReadonlyMap<unknown, unknown> {
  return new Map(items.map((item) => [isMap(item) ? item[key] : undefined, item]));
}

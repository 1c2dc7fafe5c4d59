import { isDeepStrictEqual } from 'node:util';
import { type JsonValue, stringifyJson } from '../../../../api/json.ts';
import { Violation } from '../../fuzz-target.ts';

/** @throws Violation where something in it is not what JSON has: another prototype, NaN, a function. */
export function expectPlain(root: unknown): void {
  const open = [root];
  const seen = new Set<unknown>();
  while (open.length > 0) {
    const value = open.pop();
    if (isPlainScalar(value)) continue;
    if (typeof value !== 'object') throw new Violation(`gives a ${typeof value}`);
    // An alias may make one value a part of many.
    if (seen.has(value)) continue;
    seen.add(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
    if (!isPlain) throw new Violation('gives an object with another prototype');
    open.push(...Object.values(value as object));
  }
}

function isPlainScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || ['string', 'boolean', 'bigint'].includes(typeof value);
}

/** Whether two values are one JSON value, whatever the order of members. */
export function isSameJson(a: JsonValue, b: JsonValue): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b));
}

function comparable(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value) as [string, JsonValue | undefined][];
    return new Map(
      entries
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => [key, comparable(member)] as const)
        .toSorted(([x], [y]) => (x < y ? -1 : 1)),
    );
  }
  // 1e21 and -0 are written in several ways.
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) + 0 : value;
}

export function shown(value: unknown): string {
  return (stringifyJson(value) ?? 'undefined').slice(0, 200);
}

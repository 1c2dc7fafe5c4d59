import type { JsonObject } from '../../../api/json.ts';
import { stringifyJson } from '../../../api/json.ts';

/** Path of a field in a map, as people read it: `spec.replicas`, `data["a.b"]`. */
export function fieldPath(parent: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Path of an item in a list: by the fields that tell it apart, or by its index. */
export function itemPath(parent: string, item: JsonObject | number): string {
  if (typeof item === 'number') return `${parent}[${item}]`;
  const keys = Object.entries(item).map(([key, value]) => `${key}=${stringifyJson(value)}`);
  return `${parent}[${keys.join(',')}]`;
}

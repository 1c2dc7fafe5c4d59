import { isMap } from '../../../api/json-fields.ts';

/** The JSON merge patch that makes `after` of `before`. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isMap(before) || !isMap(after)) return after;
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    if (JSON.stringify(before[key]) !== JSON.stringify(value)) {
      patch[key] = mergePatch(before[key], value);
    }
  }
  return patch;
}

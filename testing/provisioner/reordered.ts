/** A copy whose objects have their keys in the opposite order. Lists stay as they are. */
export function reordered<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reordered) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reordered(member)]);
  return Object.fromEntries(entries.toReversed()) as T;
}

/**
 * Where a value holds something that JSON cannot say, and what; undefined where it does not.
 * Integers may be `bigint`; members may be `undefined`, which are left out.
 */
export function notJson(
  value: unknown,
  place: string,
  parents: readonly object[] = [],
): string | undefined {
  if (typeof value !== 'object' || value === null) return notJsonScalar(value, place);
  if (parents.includes(value)) return `${place} is an object that holds itself`;
  const family = [...parents, value];
  if (Array.isArray(value)) {
    return firstOf(value.entries(), ([index, member]) =>
      notJson(member, `${place}[${index}]`, family),
    );
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    return `${place} is a ${value.constructor.name}`;
  }
  return firstOf(Object.entries(value), ([key, member]) =>
    notJson(member, `${place}.${key}`, family),
  );
}

function notJsonScalar(value: unknown, place: string): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${place} is ${value}`;
  const isCode = typeof value === 'function' || typeof value === 'symbol';
  return isCode ? `${place} is a ${typeof value}` : undefined;
}

function firstOf<M>(
  members: Iterable<M>,
  find: (member: M) => string | undefined,
): string | undefined {
  for (const member of members) {
    const found = find(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

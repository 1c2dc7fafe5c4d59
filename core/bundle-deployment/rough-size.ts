/** What a value takes besides its text: a number, a bracket, a quote. */
const each = 8;

/**
 * About the characters that a value has as JSON; counting ends where they are more than the bound.
 * A class may make much of little content, so the content's size does not tell.
 */
export function roughSize(value: unknown, bound: number): number {
  const rest: unknown[] = [value];
  let size = 0;
  for (let next = rest.pop(); next !== undefined && size <= bound; next = rest.pop()) {
    size += each;
    if (typeof next === 'string') size += next.length;
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, item] of Object.entries(next)) {
      if (!Array.isArray(next)) size += key.length;
      if (item !== undefined) rest.push(item);
    }
  }
  return size;
}

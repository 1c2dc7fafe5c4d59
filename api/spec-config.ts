/**
 * Helpers of classes for reading the spec.config of a BundleDeployment, and for messages about it.
 */

/** The type of a value in everyday words. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'empty' : 'a string';
  return typeof value === 'boolean' ? 'a boolean' : 'a number';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum edits between a misspelt name and the known one. */
const maxSlips = 2;

/** The known name that an unknown one probably misspells, if any. */
export function meantField(name: string, known: readonly string[]): string | undefined {
  return known.find((field) => slips(name.toLowerCase(), field.toLowerCase()) <= allowed(field));
}

/** Short names may differ by only a third of their letters. */
function allowed(field: string): number {
  return Math.min(maxSlips, Math.floor(field.length / 3));
}

/** Number of letters to add, drop or change until both are equal (Levenshtein). */
function slips(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > maxSlips) return maxSlips + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

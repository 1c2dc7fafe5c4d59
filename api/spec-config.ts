/** What classes need to read the spec.config of a BundleDeployment, and to say what is wrong in it. */

/** What a value is, as a person would call it. */
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

/** Of two names so close one is a slip of the other. */
const maxSlips = 2;

/** The known name that was meant by one that is not known, where there is one. */
export function meantField(name: string, known: readonly string[]): string | undefined {
  return known.find((field) => slips(name.toLowerCase(), field.toLowerCase()) <= allowed(field));
}

/** Names of few letters are soon like any other: they may differ by a third of them. */
function allowed(field: string): number {
  return Math.min(maxSlips, Math.floor(field.length / 3));
}

/** Letters to add, drop or change until both are the same (Levenshtein). */
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

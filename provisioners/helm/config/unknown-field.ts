/** Of two names so close one is a slip of the other. */
const maxSlips = 2;

/** The known name that was meant by one that is not known, where there is one. */
export function meantField(name: string, known: readonly string[]): string | undefined {
  return known.find((field) => slips(name.toLowerCase(), field.toLowerCase()) <= maxSlips);
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

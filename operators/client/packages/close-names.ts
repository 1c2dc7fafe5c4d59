/** Maximum number of names, and of edits for a name of ten letters. */
const most = 3;
const tolerance = 0.4;

/** The names that are close to a word that is none of them, the closest first. */
export function closeNames(word: string, names: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(1, wanted.length * tolerance))
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name);
}

/** Half an edit if one contains the other, otherwise the number of edits of letters. */
function distanceOf(a: string, b: string): number {
  return contains(a, b) || contains(b, a) ? 0.5 : editsBetween(a, b);
}

function contains(name: string, part: string): boolean {
  return part.length > 2 && name.includes(part);
}

function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const replaced = (row[j] ?? 0) + Number(letter !== other);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

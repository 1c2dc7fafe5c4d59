/**
 * Whether a text is what a pattern of `*` and `?` stands for. Takes one try after another at the last
 * `*` only, so that no pattern is slow.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let position = 0;
  let star: { readonly after: number; covers: number } | undefined;
  for (let index = 0; index < text.length; ) {
    const char = pattern[position];
    if (char === '*') {
      position += 1;
      star = { after: position, covers: index };
    } else if (char === '?' || char === text[index]) {
      position += 1;
      index += 1;
    } else if (star !== undefined) {
      star.covers += 1;
      position = star.after;
      index = star.covers;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(position));
}

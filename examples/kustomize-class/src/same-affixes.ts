import type { Item } from './item.ts';

/** Of several objects that had one name, those that went through the same kustomizations. */
export function ofSameAffixes(candidates: readonly Item[], referrer: Item): readonly Item[] {
  if (candidates.length < 2) return candidates;
  const near = candidates.filter(
    ({ prefixes, suffixes }) =>
      isNear(prefixes, referrer.prefixes) && isNear(suffixes, referrer.suffixes),
  );
  if (near.length < 2) return near;
  return near.filter(
    ({ prefixes, suffixes }) =>
      endAlike(prefixes, referrer.prefixes) && endAlike(suffixes, referrer.suffixes),
  );
}

function isNear(a: readonly string[], b: readonly string[]): boolean {
  return a.length === 0 || b.length === 0 || endAlike(a, b);
}

/** Whether the shorter is the end of the longer; an empty one is like an empty one alone. */
function endAlike(a: readonly string[], b: readonly string[]): boolean {
  const length = Math.min(a.length, b.length);
  if (length === 0) return a.length === b.length;
  const [endOfA, endOfB] = [a.slice(-length), b.slice(-length)];
  return endOfA.every((affix, at) => affix === endOfB[at]);
}

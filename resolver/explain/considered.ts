import type { ConsideredBundle, ConsideredGroup } from './explanation.ts';

/** Maximum bundles of an explanation, in all groups together. */
const mostBundles = 10;

/** A bundle that is out, and why. */
export interface RuledOut {
  readonly bundle: ConsideredBundle;
  readonly reason: string;
}

/**
 * Groups bundles by their reason, in the given order: the most hopeful bundles first. Each group
 * shows one bundle at least, as long as there is room.
 */
export function consideredGroups(bundles: readonly RuledOut[]): readonly ConsideredGroup[] {
  const groups = [...Map.groupBy(bundles, ({ reason }) => reason)].slice(0, mostBundles);
  let room = mostBundles - groups.length;
  return groups.map(([reason, members]) => {
    const shown = Math.min(members.length, room + 1);
    room -= shown - 1;
    return {
      reason,
      bundles: members.slice(0, shown).map(({ bundle }) => bundle),
      more: members.length - shown,
    };
  });
}

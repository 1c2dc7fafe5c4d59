import type { CatalogRequest } from '../kinds/catalog-kind.ts';

/** Share of the interval that is added at random, as upstream does: catalogs are not polled at once. */
const jitter = 0.01;
/** Milliseconds: each poll writes its time. */
const shortestInterval = 1000;

/**
 * Milliseconds until the next poll; undefined for none. A poll that was due while no process ran is
 * due now.
 * @param now milliseconds since the epoch
 * @param chance from 0 to 1, the same for all calls about an object
 */
export function untilPoll(
  { pollInterval: wanted, remembered }: Pick<CatalogRequest, 'pollInterval' | 'remembered'>,
  { now, chance }: { readonly now: number; readonly chance: number },
): number | undefined {
  if (wanted === undefined) return undefined;
  const pollInterval = Math.max(wanted, shortestInterval);
  const { polledAt } = remembered;
  if (polledAt === undefined) return 0;
  const left = polledAt + pollInterval * (1 + jitter * chance) - now;
  // A clock that was set back does not put polls off.
  return Math.min(Math.max(0, left), pollInterval * (1 + jitter));
}

import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { HoldUp } from '../../contracts/applier.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { objectPath } from '../objects/object-id.ts';
import { isData } from './prune-data.ts';

/** What may go now, and what waits until everything that was applied is healthy. */
export interface TimedPrune {
  readonly now: readonly InventoryEntry[];
  readonly later: readonly InventoryEntry[];
  readonly holdUp?: HoldUp;
}

interface AppliedSet {
  readonly owner: Pick<BundleDeployment, 'spec'>;
  readonly set: { readonly ids: ReadonlySet<string> };
  /** The line of an object that is not healthy. Its next change of health wakes the owner. */
  readonly problemOf: (id: string) => string | undefined;
}

const namedObjects = 5;
const longestProblem = 300;

/**
 * Goes by spec.prune.when: data in any case, and everything where it may have to be gone back to,
 * outlives what replaces it until that is healthy.
 */
export function timePrune(
  entries: readonly InventoryEntry[],
  { owner: { spec }, set, problemOf }: AppliedSet,
): TimedPrune {
  const when = spec.prune?.when ?? (spec.rollback === undefined ? 'Applied' : 'Healthy');
  const later = when === 'Healthy' ? entries : entries.filter(isData);
  // All are looked at: the next change of any of them is news from then on.
  const [problem] = later.length === 0 ? [] : [...set.ids].flatMap((id) => problemOf(id) ?? []);
  if (problem === undefined) return { now: entries, later: [] };
  const waiting = new Set(later);
  return {
    now: entries.filter((entry) => !waiting.has(entry)),
    later,
    holdUp: { reason: progressReason.pruneHeld, message: messageOf(later, problem) },
  };
}

function messageOf(later: readonly InventoryEntry[], problem: string): string {
  const objects = later.map(({ resource, key }) => objectPath(resource.kind, key));
  return (
    `not deleted before all objects are healthy: ${shortList(objects, namedObjects)}. ` +
    `Not healthy: ${problem.slice(0, longestProblem)}. ` +
    'If one of them has to go first, delete it with kubectl'
  );
}

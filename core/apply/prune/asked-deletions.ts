import { createHash } from 'node:crypto';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { ApplyRequest, Blocked } from '../../contracts/applier.ts';
import { shortList } from '../../short-list.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import { type GroupKind, objectPath } from '../objects/object-id.ts';

/** As in `ApplyRequest`. */
export interface AskedBefore extends Pick<ApplyRequest, 'deletionsAsked'> {
  readonly askedBefore?: readonly string[] | undefined;
}

const keyLength = 8;

/** Tells which deletions somebody asked for: now, or when core first found them. */
export function askedIn({
  deletionsAsked = true,
  askedBefore = [],
}: AskedBefore): (entry: InventoryEntry) => boolean {
  if (deletionsAsked) return () => true;
  const keys = new Set(askedBefore);
  return (entry) => keys.has(keyOf(entry)) || keys.has(kindKey(entry.resource));
}

/**
 * Keys of asked deletions that wait, for the status of the deployment: none while only deletions
 * wait that nobody asked for, undefined when there is nothing to tell apart. A kind that is not
 * served has one key: core does not see its objects.
 */
export function askedKeys(
  asked: AskedBefore,
  {
    entries,
    unserved,
  }: {
    readonly entries: readonly InventoryEntry[];
    readonly unserved: readonly GroupKind[];
  },
): readonly string[] | undefined {
  const { deletionsAsked = true, askedBefore } = asked;
  if (!deletionsAsked && askedBefore === undefined) return undefined;
  if (entries.length + unserved.length === 0) return undefined;
  const kinds = unserved.map(kindKey).filter((key) => deletionsAsked || askedBefore?.includes(key));
  return [...new Set([...entries.filter(askedIn(asked)).map(keyOf), ...kinds])].toSorted();
}

function keyOf(entry: InventoryEntry): string {
  return createHash('sha256').update(identity(entry)).digest('hex').slice(0, keyLength);
}

function kindKey({ group, kind }: GroupKind): string {
  return `${kind}.${group}`;
}

const namedObjects = 5;

interface Spared {
  readonly changes: 0;
  readonly held: readonly InventoryEntry[];
  readonly blocked: Blocked | undefined;
}

/**
 * The result where a set stands in for another one: nobody has asked to delete what it lacks, and the
 * other one may have it.
 */
export function spared(held: readonly InventoryEntry[]): Spared {
  return { changes: 0, held, blocked: held.length === 0 ? undefined : because(held) };
}

function because(held: readonly InventoryEntry[]): Blocked {
  const objects = held.map(({ resource, key }) => objectPath(resource.kind, key));
  return {
    reason: progressReason.pruneHeld,
    message: `not deleted: ${shortList(objects, namedObjects)}: core only keeps the active Bundle in place, and decides about them when it can roll out the present spec`,
  };
}

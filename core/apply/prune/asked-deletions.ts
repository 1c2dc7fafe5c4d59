import { createHash } from 'node:crypto';
import type { ApplyRequest } from '../../contracts/applier.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import type { GroupKind } from '../objects/object-id.ts';

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

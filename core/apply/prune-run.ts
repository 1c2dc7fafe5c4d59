import { progressReason } from '../../api/v1alpha1/conditions.ts';
import type { ApplyResult } from '../contracts/applier.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { throwAny } from './objects/failures.ts';
import type { GroupKind } from './objects/group-kind.ts';
import { keptEvent } from './prune/kept-event.ts';
import {
  deleteObjects,
  inhabitedNamespaces,
  keptByAnnotation,
  superfluous,
} from './prune/prune.ts';
import { guardPrune } from './prune/prune-guard.ts';
import { leaveObject } from './removal/removal-leave.ts';
import type { Run } from './run.ts';

export interface PruneResult extends Pick<ApplyResult, 'changes' | 'holdUp' | 'heldPrune'> {
  /** They wait to be confirmed and are the owner's until then. */
  readonly held: readonly InventoryEntry[];
  /** Kinds that turned out not to be served. */
  readonly unserved?: readonly GroupKind[];
}

/** Deletes what the owner has and no longer wants, as far as its guards let it. */
export async function pruneRun(run: Run): Promise<PruneResult> {
  const { parts, name, client, set, signal } = run;
  const entries = superfluous(parts.inventory, name, set);
  const dropped = [...entries, ...droppedKept(run)];
  const awaited = await parts.takers.holdUp(run.owner, dropped, signal);
  if (awaited !== undefined) return { changes: 0, held: dropped, holdUp: awaited };
  const left = await leaveKept(run);
  if (entries.length === 0) {
    parts.confirmed.forget(name);
    return { changes: left, held: [] };
  }
  const { go, held, status, message } = await guardPrune(entries, {
    ...run,
    wanted: set.ids.size,
    confirmed: parts.confirmed,
    discovery: parts.options.discovery,
  });
  const refused = await deleteObjects(go, { client, signal });
  const { failures, unserved } = await parts.earlierKinds.lost(name, refused, signal);
  throwAny(failures, 'upgrade', signal);
  for (const { id } of go) parts.drift.forget(id);
  const changes = left + go.length;
  if (message === undefined) return { changes, held, unserved };
  const holdUp = { reason: progressReason.pruneHeld, message };
  return { changes, held, unserved, holdUp, heldPrune: status };
}

/** What is dropped and stays becomes nobody's: the garbage collector would take it later. */
async function leaveKept(run: Run): Promise<number> {
  const { parts, owner, name, client, signal } = run;
  const kept = droppedKept(run);
  for (const entry of kept) {
    await leaveObject(client, entry, { owner: name, signal });
    parts.inventory.leave(entry);
    parts.drift.forget(entry.id);
    parts.options.events.event(owner, keptEvent(entry));
  }
  return kept.length;
}

function droppedKept({ parts: { inventory }, name, set }: Run): readonly InventoryEntry[] {
  return [
    ...keptByAnnotation(inventory, name).filter(({ id }) => !set.ids.has(id)),
    ...inhabitedNamespaces(inventory, name, set),
  ];
}

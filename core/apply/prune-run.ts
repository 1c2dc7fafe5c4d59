import { progressReason } from '../../api/v1alpha1/conditions.ts';
import type { ApplyResult } from '../contracts/applier.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { leaveObjects } from './leave-objects.ts';
import { throwAny } from './objects/failures.ts';
import type { GroupKind } from './objects/group-kind.ts';
import { guardPrune } from './prune/prune-guard.ts';
import { timePrune } from './prune/prune-when.ts';
import {
  leaveNamespaces,
  type NamespacePlan,
  throwUndecided,
} from './removal/removal-namespaces.ts';
import { planRemoval } from './removal/removal-plan.ts';
import type { Run } from './run.ts';
import { tellStrangers } from './strangers.ts';

export interface PruneResult extends Pick<ApplyResult, 'changes' | 'holdUp' | 'heldPrune'> {
  /** They wait to be confirmed and are the owner's until then. */
  readonly held: readonly InventoryEntry[];
  /** Kinds that turned out not to be served. */
  readonly unserved?: readonly GroupKind[];
}

/** What the owner has and no longer wants: what of it goes, and what stays. */
export async function planPrune({ parts, owner, name, set, signal }: Run): Promise<NamespacePlan> {
  const { client, discovery, defaultDeletionPolicy = 'Delete' } = parts.options;
  const { deletionPolicy: policy = defaultDeletionPolicy } = owner.spec;
  const plan = planRemoval(parts.inventory, { owner, policy, wanted: set });
  const going = new Set(plan.remove.map(({ id }) => id));
  const ownerUID = owner.metadata.uid ?? '';
  const otherUsers = (id: string) => parts.sharedNamespaces.usersBeside(name, id);
  const query = { client, discovery, going, ownerUID, otherUsers, signal };
  return await leaveNamespaces(plan, query);
}

/** Deletes what the owner has and no longer wants, as far as its policy and its guards let it. */
export async function pruneRun(run: Run): Promise<PruneResult> {
  const { parts, owner, name, client, set, signal } = run;
  const plan = await planPrune(run);
  const { leave, remove, undecided } = plan;
  tellStrangers({ parts, owner, wanted: set.ids });
  const dropped = [...remove, ...leave.keys()];
  const awaited = await parts.takers.holdUp(owner, dropped, signal);
  if (awaited !== undefined) return { changes: 0, held: dropped, holdUp: awaited };
  // What nobody has dropped stays the owner's.
  const staying = run.deletionsAsked === false ? [...leave.keys()] : [];
  const left = staying.length > 0 ? 0 : leave.size;
  if (left > 0) await leaveObjects(run, leave);
  if (remove.length === 0) {
    parts.confirmed.forget(name);
    return { changes: left, held: staying };
  }
  const { records, drift } = parts;
  const problemOf = (id: string): string | undefined => {
    const record = records.get(id);
    return record && drift.health(record);
  };
  const {
    go,
    held: open,
    status,
    message,
  } = await guardPrune(remove, {
    ...run,
    wanted: set.ids.size,
    defaults: parts.options.pruneDefaults,
    confirmed: parts.confirmed,
    discovery: parts.options.discovery,
  });
  const { now, later, holdUp: unhealthy } = timePrune(go, { owner, set, problemOf });
  const because = 'its bundle no longer has it';
  const decided = now.filter((entry) => !undecided.has(entry));
  const refused = await parts.deletions.delete(decided, { owner, because, client, signal });
  const { failures, unserved } = await parts.earlierKinds.lost(name, refused, signal);
  throwAny(failures, 'upgrade', signal);
  for (const { id } of decided) parts.drift.forget(id);
  throwUndecided(plan, now);
  const changes = left + now.length;
  const held = [...open, ...later, ...staying];
  if (message === undefined) return { changes, held, unserved, holdUp: unhealthy };
  const holdUp = { reason: progressReason.pruneHeld, message };
  return { changes, held, unserved, holdUp, heldPrune: status };
}

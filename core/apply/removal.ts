import type { RemoveRequest, RemoveResult } from '../contracts/applier.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { earlierKinds, servedResources } from './earlier-kinds.ts';
import type { EngineParts } from './engine-parts.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { applySetKey } from './objects/applyset.ts';
import { isKept } from './objects/desired.ts';
import { type ApplyFailure, throwAny } from './objects/failures.ts';
import { forEachLimit } from './objects/for-each-limit.ts';
import { isWorkload } from './objects/order.ts';
import { clientOf } from './privilege/owner-client.ts';
import { keptEvent } from './prune/kept-event.ts';
import { deleteObjects } from './prune/prune.ts';
import { leaveObject } from './removal/removal-leave.ts';
import { shownEntry, waitingMessage } from './removal/removal-message.ts';
import { leaveNamespaces } from './removal/removal-namespaces.ts';
import { planRemoval, removalStages } from './removal/removal-plan.ts';

const concurrentWrites = 8;

interface Removal extends RemoveRequest {
  readonly parts: EngineParts;
  readonly name: string;
  readonly client: KubeClient;
}

/**
 * Goes as far as it can without waiting, from whatever is there: a removal that was cut short is
 * resumed by another call.
 */
export async function removeRun(parts: EngineParts, request: RemoveRequest): Promise<RemoveResult> {
  const { owner, policy, signal } = request;
  const name = owner.metadata.name ?? '';
  const { discovery } = parts.options;
  const client = clientOf(owner, parts.options.client);
  const removal = { ...request, parts, name, client };
  checkMarks(parts, request);
  const kinds = await earlierKinds(parts, owner, signal);
  await parts.watches.ensure(await servedResources(parts, kinds, signal), signal);
  const planned = planRemoval(parts.inventory, request);
  const plan = await leaveNamespaces(planned, policy, { client, discovery, signal });
  await leave(removal, plan.leave);
  for (const stage of removalStages(plan.remove)) {
    const waitsFor = await removeStage(removal, stage);
    if (waitsFor !== undefined) return { waitsFor };
  }
  parts.removals.forget(name);
  return {};
}

/** Without its marks nobody knows what there is to delete or to leave. */
function checkMarks({ parents }: EngineParts, { owner, policy }: RemoveRequest): void {
  if ((owner.status?.activeBundle ?? '') === '' || parents.isParent(owner)) return;
  throw new Error(
    `label ${applySetKey.id} or annotation ${applySetKey.groupKinds} of the BundleDeployment was changed by others: ` +
      `they say of which kinds its objects are, so that none is overlooked (deletion policy ${policy}). Put them back`,
  );
}

async function leave(removal: Removal, entries: readonly InventoryEntry[]): Promise<void> {
  const { parts, owner, name, client, signal } = removal;
  const failures: ApplyFailure[] = [];
  await forEachLimit(entries, concurrentWrites, async (entry) => {
    try {
      await leaveObject(client, entry, { owner: name, signal });
      parts.inventory.leave(entry);
      if (isKept(entry.object)) parts.options.events.event(owner, keptEvent(entry));
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ object: entry, action: 'patch', error });
    }
  });
  throwAny(failures, 'upgrade', signal);
}

/** What is left to wait for once everything of the stage is being deleted. */
async function removeStage(
  { parts, name, client, signal }: Removal,
  stage: readonly InventoryEntry[],
): Promise<RemoveResult['waitsFor']> {
  const { inventory, removals, options } = parts;
  const doomed = stage.filter(
    ({ deleted, object }) => !deleted && object.metadata.deletionTimestamp === undefined,
  );
  throwAny(await deleteObjects(doomed, { client, propagation, signal }), 'upgrade', signal);
  // By now the watches may have seen them go.
  const left = stage
    .flatMap(({ resource, key }) => inventory.get(resource, key) ?? [])
    .filter(({ owner }) => owner === name);
  const shown = shownEntry(left);
  if (shown === undefined) return undefined;
  const awaited = { ids: left.map(({ id }) => id), shown: shown.id };
  const since = removals.waitFor(name, awaited, options.clock.now());
  return { message: waitingMessage(shown, left.length), since };
}

/** A workload is not gone before its pods are: they use what is deleted next. */
function propagation({ resource: { kind } }: InventoryEntry): 'Background' | 'Foreground' {
  return isWorkload(kind) ? 'Foreground' : 'Background';
}

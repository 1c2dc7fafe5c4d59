import type { RemoveRequest, RemoveResult } from '../contracts/applier.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { earlierKinds, servedResources } from './earlier-kinds.ts';
import type { EngineParts } from './engine-parts.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { leaveObjects } from './leave-objects.ts';
import { applySetKey } from './objects/applyset.ts';
import { throwAny } from './objects/failures.ts';
import { isWorkload } from './objects/order.ts';
import { belongsTo } from './ownership/belonging.ts';
import { clientOf } from './privilege/owner-client.ts';
import { shownEntry, waitingMessage } from './removal/removal-message.ts';
import { leaveNamespaces } from './removal/removal-namespaces.ts';
import { planRemoval, removalStages } from './removal/removal-plan.ts';
import { tellStrangers } from './strangers.ts';
import type { DoomedObject } from './writes/deletions.ts';

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
  const { owner, signal } = request;
  const name = owner.metadata.name ?? '';
  const { discovery } = parts.options;
  const client = clientOf(owner, parts.options.client);
  const removal = { ...request, parts, name, client };
  checkMarks(parts, request);
  const kinds = await earlierKinds(parts, owner, signal);
  await parts.watches.ensure(await servedResources(parts, kinds, signal), signal);
  const planned = planRemoval(parts.inventory, request);
  const plan = await leaveNamespaces(planned, {
    client: parts.options.client,
    discovery,
    ownerUID: owner.metadata.uid ?? '',
    signal,
  });
  tellStrangers(removal);
  await leaveObjects(removal, plan.leave);
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

/** What is left to wait for once everything of the stage is being deleted. */
async function removeStage(
  { parts, owner, name, client, signal }: Removal,
  stage: readonly InventoryEntry[],
): Promise<RemoveResult['waitsFor']> {
  const { inventory, removals, deletions, options } = parts;
  const doomed = stage.filter(
    ({ deleted, object }) => !deleted && object.metadata.deletionTimestamp === undefined,
  );
  const because = 'its BundleDeployment is deleted';
  const context = { owner, because, client, propagation, signal };
  throwAny(await deletions.delete(doomed, context), 'upgrade', signal);
  // By now the watches may have seen them go.
  const left = stage
    .flatMap(({ resource, key }) => inventory.get(resource, key) ?? [])
    .filter(({ object }) => belongsTo(object, owner));
  const shown = shownEntry(left);
  if (shown === undefined) return undefined;
  const awaited = { ids: left.map(({ id }) => id), shown: shown.id };
  const since = removals.waitFor(name, awaited, options.clock.now());
  return { message: waitingMessage(shown, left.length), since };
}

/** A workload is not gone before its pods are: they use what is deleted next. */
function propagation({ resource: { kind } }: DoomedObject): 'Background' | 'Foreground' {
  return isWorkload(kind) ? 'Foreground' : 'Background';
}

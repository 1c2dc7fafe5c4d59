import type { RemoveRequest, RemoveResult } from '../contracts/applier.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { EngineParts } from './engine-parts.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { kindNames } from './kinds/earlier-kinds.ts';
import { leaveObjects } from './leave-objects.ts';
import { applySetKey } from './objects/applyset.ts';
import { throwAny } from './objects/failures.ts';
import type { GroupKind } from './objects/group-kind.ts';
import { isNamespace } from './objects/order.ts';
import { belongsTo } from './ownership/belonging.ts';
import { clientOf } from './privilege/owner-client.ts';
import { type LeftNamespaces, takeLeftNamespaces } from './removal/left-namespaces.ts';
import { shownEntry, waitingMessage } from './removal/removal-message.ts';
import { leaveNamespaces, throwUndecided } from './removal/removal-namespaces.ts';
import { planRemoval, removalStages } from './removal/removal-plan.ts';
import { tellStrangers } from './strangers.ts';

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
  const kinds = await parts.earlierKinds.of(owner, signal);
  const { resources, unserved: unknown } = await parts.earlierKinds.find(name, kinds, signal);
  const unserved = [...unknown];
  await parts.watches.ensure(resources, signal);
  await parts.restored.check(owner, signal);
  const planned = planRemoval(parts.inventory, request);
  parts.sharedNamespaces.end(
    name,
    planned.remove.filter(({ resource }) => isNamespace(resource)),
  );
  tellStrangers(removal);
  await leaveObjects(removal, planned.leave);
  const going = new Set(planned.remove.map(({ id }) => id));
  const ownerUID = owner.metadata.uid ?? '';
  const otherUsers = (id: string) => parts.sharedNamespaces.usersBeside(name, id);
  const query = { client: parts.options.client, discovery, going, ownerUID, otherUsers, signal };
  for (const candidates of removalStages(planned.remove)) {
    // Not earlier: until what is before it has gone, an API of the deployment may keep silent.
    const plan = await leaveNamespaces({ leave: new Map(), remove: candidates }, query);
    await leaveObjects(removal, plan.leave);
    const decided = plan.remove.filter((entry) => !plan.undecided.has(entry));
    const waitsFor = await removeStage(removal, decided, unserved);
    throwUndecided(plan, plan.remove);
    if (waitsFor !== undefined) return { waitsFor };
  }
  // A kind may have gone with its CRD or APIService, which were objects of the deployment.
  const left = await parts.earlierKinds.find(name, unserved, signal);
  if (left.resources.length > 0) parts.notify(name);
  if (unserved.length > 0 && left.unserved.length + left.resources.length > 0) {
    return { waitsFor: waitForKinds(removal, unserved) };
  }
  if (await takeLeft(removal, query)) return await removeRun(parts, request);
  parts.removals.forget(name);
  return {};
}

async function takeLeft(
  { parts, owner, name, policy, client }: Removal,
  query: LeftNamespaces['query'],
): Promise<boolean> {
  const { inventory, options } = parts;
  if (policy === 'Orphan') return false;
  const namespaces = parts.sharedNamespaces.of(name);
  return await takeLeftNamespaces({ ...options, owner, namespaces, client, inventory, query });
}

/** Objects of a kind that is not served can be neither seen nor deleted; nothing says that none is left. */
function waitForKinds(
  { parts, name }: Removal,
  kinds: readonly GroupKind[],
): NonNullable<RemoveResult['waitsFor']> {
  const awaited = { ids: [], shown: '' };
  const since = parts.removals.waitFor(name, awaited, parts.options.clock.monotonic());
  const message =
    `Waiting for the API server to serve ${kindNames(kinds)}: objects of it may be left. ` +
    'Repair its CustomResourceDefinition or APIService, or delete it';
  return { message, since };
}

/** Without its marks nobody knows what there is to delete or to leave. */
function checkMarks({ parents }: EngineParts, { owner, policy }: RemoveRequest): void {
  if ((owner.status?.activeBundle ?? '') === '' || parents.isParent(owner)) return;
  throw new Error(
    `label ${applySetKey.id} or annotation ${applySetKey.groupKinds} of the BundleDeployment was changed by others: ` +
      `they say of which kinds its objects are, so that none is overlooked (deletion policy ${policy}). Put them back`,
  );
}

/** What is left to wait for once everything of the stage is being deleted; adds kinds that are not served. */
async function removeStage(
  { parts, owner, name, client, signal }: Removal,
  stage: readonly InventoryEntry[],
  unserved: GroupKind[],
): Promise<RemoveResult['waitsFor']> {
  const { earlierKinds, inventory, removals, deletions, options } = parts;
  const doomed = stage.filter(
    ({ deleted, object }) => !deleted && object.metadata.deletionTimestamp === undefined,
  );
  const because = 'its BundleDeployment is deleted';
  const context = { owner, because, client, podsFirst: true, signal };
  const lost = await earlierKinds.lost(name, await deletions.delete(doomed, context), signal);
  throwAny(lost.failures, 'upgrade', signal);
  unserved.push(...lost.unserved);
  // By now the watches may have seen them go.
  const left = stage
    .flatMap(({ resource, key }) => inventory.get(resource, key) ?? [])
    .filter(({ object }) => belongsTo(object, owner));
  const shown = shownEntry(left);
  if (shown === undefined) return undefined;
  const awaited = { ids: left.map(({ id }) => id), shown: shown.id };
  const since = removals.waitFor(name, awaited, options.clock.monotonic());
  return { message: waitingMessage(shown, left.length), since };
}

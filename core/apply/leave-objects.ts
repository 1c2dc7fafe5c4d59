import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { EngineParts } from './engine-parts.ts';
import type { InventoryEntry } from './inventory/inventory.ts';
import { type ApplyFailure, throwAny } from './objects/failures.ts';
import { forEachLimit } from './objects/for-each-limit.ts';
import { leaveObject } from './removal/removal-leave.ts';
import { objectEvents } from './writes/object-events.ts';

const concurrentWrites = 8;

interface Leaving {
  readonly parts: EngineParts;
  readonly owner: BundleDeployment;
  /** With the permissions of the owner. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
}

/** Makes objects nobody's that would be deleted but for the reason given, and tells of each. */
export async function leaveObjects(
  { parts, owner, client, signal }: Leaving,
  entries: ReadonlyMap<InventoryEntry, string>,
): Promise<void> {
  const { name = '' } = owner.metadata;
  const failures: ApplyFailure[] = [];
  const left: InventoryEntry[] = [];
  await forEachLimit([...entries.keys()], concurrentWrites, async (entry) => {
    try {
      await leaveObject(client, entry, { owner: name, signal });
      parts.inventory.leave(entry);
      parts.drift.forget(entry.id);
      parts.given.left(entry);
      // A namespace is theirs to have now.
      for (const user of parts.sharedNamespaces.usersBeside(name, entry.id)) parts.notify(user);
      left.push(entry);
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ object: entry, action: 'patch', error });
    }
  });
  for (const [because, group] of Map.groupBy(left, (entry) => entries.get(entry))) {
    const message = (list: string) => `Kept ${list}, which is nobody's from now on: ${because}`;
    for (const event of objectEvents(group, { reason: 'ObjectKept', message })) {
      parts.options.events.event(owner, event);
    }
  }
  throwAny(failures, 'upgrade', signal);
}

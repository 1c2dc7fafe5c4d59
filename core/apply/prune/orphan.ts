import { fieldAt, listOf, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import {
  ApiError,
  isConflict,
  isKindNotFound,
  isObjectNotFound,
  type KubeClient,
  type ObjectKey,
  type Resource,
  unlessGone,
} from '../../platform/kube/index.ts';
import { fieldManager, isOwnEntry } from '../fields/managed-fields.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { primaryResourceKeys } from '../objects/desired.ts';
import { type ApplyFailure, throwAny } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { isDefinition } from '../objects/order.ts';
import { isDeployment, isHookObject, labelledOwner } from '../objects/owner-marks.ts';
import { otherUsers } from '../ownership/shared-namespaces.ts';
import { isOrphanDenied } from '../privilege/removal-denial.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { objectEvents } from '../write/deletions.ts';
import { lostConversions } from './lost-conversions.ts';
import type { RemovalPlan } from './prune-plan.ts';

interface OrphanerOptions {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly owners: OwnerStates;
  readonly inventory: Inventory;
  /** Called with a kind that the API server does not serve: the next attempt must look for it again. */
  readonly onLost: (resource: Resource) => void;
  /** Wakes an owner whose objects must be reconciled. */
  readonly notify: (owner: string) => void;
}

interface OrphanRequest {
  readonly owner: BundleDeployment;
  /** Has the permissions of the owner. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  /**
   * The owner is being deleted: core removes its marks itself if the owner's ServiceAccount may not,
   * so that the deletion can end (default: false).
   */
  readonly ownerEnds?: boolean;
}

const concurrentWrites = 8;

/** Leaves objects of a deployment in the cluster, as objects of nobody. */
export class Orphaner {
  readonly #options: OrphanerOptions;

  constructor(options: OrphanerOptions) {
    this.#options = options;
  }

  /**
   * Orphans the objects of the plan that must not be deleted, and records an Event for each reason,
   * and a Warning about each CRD whose conversion webhook the plan deletes.
   */
  async orphan(request: OrphanRequest, plan: RemovalPlan): Promise<void> {
    const { owner, signal } = request;
    const { client, owners, inventory, events, notify, onLost } = this.#options;
    const { orphan: entries } = plan;
    const lost = await lostConversions(plan, { client, signal });
    const { name = '' } = owner.metadata;
    const failures: ApplyFailure[] = [];
    const left: InventoryEntry[] = [];
    for (const group of definitionsFirst([...entries.keys()])) {
      if (failures.length > 0) break;
      await forEachLimit(group, concurrentWrites, async (entry) => {
        try {
          await this.#orphanOne(entry, request);
          owners.find(name)?.forgetObject(entry.id);
          inventory.orphan(entry);
          // Other users may own the namespace now.
          for (const user of otherUsers(owners, name, entry.id)) notify(user);
          left.push(entry);
        } catch (error) {
          signal.throwIfAborted();
          if (isKindNotFound(error)) onLost(entry.resource);
          failures.push({ object: entry, action: 'patch', error });
        }
      });
    }
    for (const [because, group] of Map.groupBy(left, (entry) => entries.get(entry))) {
      const message = (list: string) => `Core orphaned ${list}: ${because}`;
      for (const event of objectEvents(group, { reason: 'ObjectKept', message })) {
        events.event(owner, event);
      }
    }
    for (const message of left.flatMap((entry) => lost.get(entry) ?? [])) {
      events.event(owner, { type: 'Warning', reason: 'ConversionLost', message });
    }
    throwAny(failures, 'upgrade', signal);
  }

  async #orphanOne(entry: InventoryEntry, request: OrphanRequest): Promise<void> {
    const { owner, client, ownerEnds = false, signal } = request;
    const marks = { owner: owner.metadata.name ?? '', signal };
    try {
      await orphanObject(client, entry, marks);
    } catch (error) {
      if (!ownerEnds || !(await isOrphanDenied(error, entry, request))) throw error;
      // Removes only what core itself has written: nobody gets more permissions by it.
      await orphanObject(this.#options.client, entry, marks);
    }
  }
}

/**
 * CRDs before their custom resources: without the marks of these, nothing would tell the next
 * attempt that their CRD must stay.
 */
function definitionsFirst(entries: readonly InventoryEntry[]): readonly InventoryEntry[][] {
  const { definitions = [], others = [] } = Object.groupBy(entries, ({ resource }) =>
    isDefinition(resource) ? 'definitions' : 'others',
  );
  return [definitions, others];
}

interface LeftObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** As last seen; may lack managedFields. */
  readonly object: KubernetesObject;
}

const attempts = 5;

/**
 * Orphans an object: removes core's marks, and its fields from managedFields, and keeps the content.
 * Usually takes one request; a second and third when the object changed meanwhile. Does nothing
 * when it was deleted or has another owner. Never applies, because that would recreate a deleted
 * object.
 * @throws ApiError when the server refuses, or does not serve the kind: in another version of it the
 * object may exist, and the garbage collector deletes one of RukPak's that keeps its marks.
 */
export async function orphanObject(
  client: Pick<KubeClient, 'get' | 'patch'>,
  { resource, key, object }: LeftObject,
  { owner, signal }: { readonly owner: string; readonly signal: AbortSignal },
): Promise<void> {
  let seen = object;
  // Core's entry is the first one in most objects, because nobody else has applied them.
  let index = 0;
  for (let attempt = 1; labelledOwner(seen) === owner; attempt += 1) {
    try {
      const patch = [
        ...withoutMarks(seen, owner),
        ...(index === -1 ? withoutHookRun(seen) : withoutOwnFields(seen, index)),
      ];
      await client.patch({ resource, key }, patch, { type: 'json', signal });
      return;
    } catch (error) {
      if (isObjectNotFound(error)) return;
      if (!isOutdated(error) || attempt === attempts) throw error;
    }
    const live = await unlessGone(client.get(resource, key, signal));
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return;
    seen = live;
    index = listOf(fieldAt(live.metadata, 'managedFields')).findIndex(isOwnEntry);
  }
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** The patch takes effect only on the version that it was made from. */
function withoutMarks(live: KubernetesObject, owner: string): readonly Operation[] {
  const { resourceVersion, labels, annotations, ownerReferences } = live.metadata;
  const marks = [label.ownerKind, label.ownerName, label.partOf];
  const others = ownerReferences?.filter((reference) => !isDeployment(reference, owner));
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...without('/metadata/labels', labels, marks),
    ...without('/metadata/annotations', annotations, [
      ...primaryResourceKeys,
      annotation.trackingID,
      annotation.hookBundle,
    ]),
    ...(annotations === undefined
      ? [{ op: 'add', path: '/metadata/annotations', value: {} } as const]
      : []),
    { op: 'add', path: pathOf('/metadata/annotations', annotation.leftBy), value: owner },
    ...(others === undefined
      ? []
      : [{ op: 'replace', path: '/metadata/ownerReferences', value: others } as const]),
  ];
}

/**
 * Core keeps only these annotations. Without any managed field the API server would treat the object
 * as one from before server-side apply, whose fields can be taken over only by force. A later hook
 * recognises the object of an earlier one; an apply as an ordinary object removes that mark, because
 * it no longer sends it.
 */
function withoutOwnFields(live: KubernetesObject, index: number): readonly Operation[] {
  const path = `/metadata/managedFields/${index}`;
  const kept = [annotation.leftBy, ...(isHookObject(live) ? [annotation.hookRun] : [])];
  const annotations = Object.fromEntries(kept.map((key) => [`f:${key}`, {}]));
  return [
    { op: 'test', path: `${path}/manager`, value: fieldManager },
    { op: 'test', path: `${path}/operation`, value: 'Apply' },
    {
      op: 'replace',
      path: `${path}/fieldsV1`,
      value: { 'f:metadata': { 'f:annotations': annotations } },
    },
  ];
}

/** For an object without fields of core, of which no apply would remove the mark of a hook. */
function withoutHookRun({ metadata }: KubernetesObject): readonly Operation[] {
  return without('/metadata/annotations', metadata.annotations, [annotation.hookRun]);
}

function without(parent: string, map: unknown, keys: readonly string[]): readonly Operation[] {
  return keys
    .filter((key) => Object.hasOwn(mapOf(map), key))
    .map((key) => ({ op: 'remove', path: pathOf(parent, key) }) as const);
}

function pathOf(parent: string, key: string): string {
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A conflict, or a failed test of the patch. */
function isOutdated(error: unknown): boolean {
  return isConflict(error) || (error instanceof ApiError && error.code === 422);
}

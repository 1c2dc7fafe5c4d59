import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink, ObjectEvent } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import {
  isConflict,
  isObjectNotFound,
  type KubeClient,
  type ObjectKey,
  type Resource,
  unlessGone,
} from '../../platform/kube/index.ts';
import { isKept } from '../objects/desired.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { objectPath } from '../objects/object-id.ts';
import { inKindOrder, isWorkload } from '../objects/order.ts';
import { belongsTo } from '../objects/owner-marks.ts';

const concurrentDeletes = 8;
const attempts = 5;

/**
 * An object as last seen. Deleting it marks its inventory entry as deleted, unless somebody has
 * annotated it to be kept.
 */
export interface DoomedObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
  deleted: boolean;
}

interface DeletionContext {
  readonly owner: BundleDeployment;
  /** The reason in messages, after "Deleted …: ". */
  readonly because: string;
  readonly client: Pick<KubeClient, 'get' | 'delete'>;
  /** Delete a workload only after its pods: they use what is deleted or recreated next. */
  readonly podsFirst?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Deletes objects of deployments; every deletion goes through here. Never deletes an object that
 * core did not make for exactly this deployment. Records an Event and a log line for each deletion.
 */
export class Deletions {
  readonly #options: { readonly events: EventSink; readonly logger: Logger };

  constructor(options: { readonly events: EventSink; readonly logger: Logger }) {
    this.#options = options;
  }

  /** Deletes in reverse install order; returns the API server's refusals. */
  async delete(
    doomed: readonly DoomedObject[],
    context: DeletionContext,
  ): Promise<readonly ApplyFailure[]> {
    const failures: ApplyFailure[] = [];
    const gone: DoomedObject[] = [];
    const own = doomed.filter(({ object }) => belongsTo(object, context.owner));
    for (const group of inKindOrder(own).toReversed()) {
      await forEachLimit(group, concurrentDeletes, async (each) => {
        try {
          const outcome = await deleteOne(each, context);
          if (outcome === 'deleted') gone.push(each);
          each.deleted = outcome !== 'kept';
        } catch (error) {
          context.signal.throwIfAborted();
          failures.push({ object: each, action: 'delete', error });
        }
      });
    }
    this.#tell(gone, context);
    return failures;
  }

  #tell(gone: readonly DoomedObject[], { owner, because }: DeletionContext): void {
    const { events, logger } = this.#options;
    for (const { resource, key } of gone) {
      const object = objectPath(resource.kind, key);
      logger.info({ bundleDeployment: owner.metadata.name, object, because }, 'object deleted');
    }
    const message = (list: string) => `Deleted ${list}: ${because}`;
    for (const event of objectEvents(gone, { reason: 'ObjectsDeleted', message })) {
      events.event(owner, event);
    }
  }
}

/**
 * Why an object is not deleted: it was deleted, replaced by another one of its name, or taken by
 * another deployment; or somebody has annotated it to be kept since it was seen.
 */
type Spared = 'gone' | 'kept';

/**
 * Deletes exactly the known version, or a newer one that is still the same object of the same
 * deployment.
 */
async function deleteOne(
  doomed: DoomedObject,
  context: DeletionContext,
): Promise<'deleted' | Spared> {
  const { resource, key, object } = doomed;
  const { client, podsFirst = false, signal } = context;
  const propagationPolicy = podsFirst && isWorkload(resource.kind) ? 'Foreground' : 'Background';
  let found: KubernetesObject | Spared = object;
  for (let attempt = 1; typeof found !== 'string'; attempt += 1) {
    try {
      const precondition = preconditionOf(found);
      await client.delete(resource, key, { propagationPolicy, ...precondition, signal });
      return 'deleted';
    } catch (error) {
      if (isObjectNotFound(error)) return 'gone';
      if (!isConflict(error) || attempt === attempts) throw error;
      found = await sameObject(doomed, context);
    }
  }
  return found;
}

function preconditionOf({ metadata }: KubernetesObject): {
  uid?: string;
  resourceVersion?: string;
} {
  const { uid, resourceVersion } = metadata;
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** The live object, if it is still to be deleted. */
async function sameObject(
  { resource, key, object }: DoomedObject,
  { client, owner, signal }: DeletionContext,
): Promise<KubernetesObject | Spared> {
  const live = await unlessGone(client.get(resource, key, signal));
  if (live === undefined || live.metadata.uid !== object.metadata.uid) return 'gone';
  if (!belongsTo(live, owner)) return 'gone';
  return isKept(live) && !isKept(object) ? 'kept' : live;
}

/** The API server accepts 1024 bytes of a message, and the rest of the message needs some. */
const longestList = 600;

interface ToldObject {
  readonly resource: Pick<Resource, 'kind'>;
  readonly key: ObjectKey;
}

/** Events that name all of these objects, each with as many as a message holds. */
export function objectEvents(
  objects: readonly ToldObject[],
  { reason, message }: { readonly reason: string; readonly message: (list: string) => string },
): readonly ObjectEvent[] {
  const lists: string[] = [];
  for (const { resource, key } of objects) {
    const path = objectPath(resource.kind, key);
    const last = lists.at(-1);
    if (last === undefined || last.length + path.length > longestList) lists.push(path);
    else lists[lists.length - 1] = `${last}, ${path}`;
  }
  return lists.map((list) => ({ type: 'Normal', reason, message: message(list) }));
}

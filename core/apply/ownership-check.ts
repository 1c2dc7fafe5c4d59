import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../api/v1alpha1/conditions.ts';
import { TerminalError } from '../errors.ts';
import { isNotFound } from '../kube/api-error.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import type { Resource } from '../kube/resource.ts';
import type { Claims } from './claims.ts';
import type { DesiredObject } from './desired.ts';
import { forEachLimit } from './for-each-limit.ts';
import { isLeftByRukpak, ownershipMessage, ownershipOf, type RefusedObject } from './ownership.ts';
import type { PlannedObject } from './plan.ts';

const concurrentReads = 8;

export interface OwnershipRequest {
  readonly owner: BundleDeployment;
  readonly operation: 'install' | 'upgrade';
  /** Every object of the set. */
  readonly desired: readonly DesiredObject[];
  readonly pending: readonly PlannedObject[];
  /** The resource under which an object can be read; undefined where none can exist yet. */
  readonly presentAs: (desired: DesiredObject) => Resource | undefined;
  /** False for objects that are expected to be missing: creating them finds out. */
  readonly readsFirst: (planned: PlannedObject) => boolean;
  /** Reads with the permissions that the owner has. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
}

/** A planned object that may be applied. */
export interface CheckedObject extends PlannedObject {
  /** Controllers to remove from it first, because it was adopted. */
  readonly dropControllers: boolean;
  /** RukPak's fields in it are to become ours first. */
  readonly takeOver: boolean;
  /** Not in the cluster as far as is known: one that is there after all is not to be touched. */
  readonly createOnly: boolean;
}

/** Objects of somebody else's stand in the way (spec section 6, number 5). */
export class OwnershipRefusal extends TerminalError {}

export interface OwnershipCheckOptions {
  readonly claims: Claims;
  readonly systemNamespace: string;
}

/** Makes sure that nothing of somebody else's is changed. */
export class OwnershipCheck {
  readonly #options: OwnershipCheckOptions;

  constructor(options: OwnershipCheckOptions) {
    this.#options = options;
  }

  /**
   * Reads the objects that no watch knows, unless they are to be found out by creating them, and
   * judges all. The set stays claimed for its owner until the engine releases it, so that of two
   * deployments that want one object at the same moment only the first gets it.
   * @throws OwnershipRefusal that lists each object of somebody else's.
   */
  async run(request: OwnershipRequest): Promise<readonly CheckedObject[]> {
    const { owner, desired, pending } = request;
    const { claims } = this.#options;
    const name = owner.metadata.name ?? '';
    const claimed = pending.flatMap(({ desired: { id, resource, key } }) => {
      const holder = claims.otherHolder(id, name);
      const because = `belongs to BundleDeployment "${holder}"`;
      return holder === undefined ? [] : [{ kind: resource.kind, key, because }];
    });
    if (claimed.length > 0) throw refusal(claimed, request);
    const taken = claims.take(
      desired.map(({ id }) => id),
      name,
    );
    try {
      return await this.judge(request);
    } catch (error) {
      claims.release(taken, name);
      throw error;
    }
  }

  /**
   * The judgement alone, of objects that are claimed already.
   * @throws OwnershipRefusal
   */
  async judge(request: OwnershipRequest): Promise<readonly CheckedObject[]> {
    const refused: RefusedObject[] = [];
    const checked: CheckedObject[] = [];
    const { owner } = request;
    const { systemNamespace } = this.#options;
    await forEachLimit(request.pending, concurrentReads, async (planned) => {
      const live = planned.live ?? (await read(planned, request));
      if (live === undefined) {
        checked.push(missing(planned));
        return;
      }
      const ownership = ownershipOf(live, owner, systemNamespace);
      if (ownership.verdict === 'refused') {
        const { resource, key } = planned.desired;
        refused.push({ kind: resource.kind, key, because: ownership.because });
        return;
      }
      const dropControllers = ownership.verdict === 'adopt' && ownership.dropControllers;
      const takeOver = isLeftByRukpak(live, owner.metadata.name ?? '', systemNamespace);
      checked.push({ ...planned, live, dropControllers, takeOver, createOnly: false });
    });
    if (refused.length > 0) throw refusal(refused, request);
    return checked;
  }
}

async function read(
  planned: PlannedObject,
  { presentAs, readsFirst, client, signal }: OwnershipRequest,
): Promise<KubernetesObject | undefined> {
  const { desired } = planned;
  const resource = presentAs(desired);
  if (resource === undefined || !readsFirst(planned)) return undefined;
  try {
    return await client.get(resource, desired.key, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function missing(planned: PlannedObject): CheckedObject {
  const nothing = { dropControllers: false, takeOver: false };
  return { ...planned, ...nothing, live: undefined, createOnly: true };
}

function refusal(
  refused: readonly RefusedObject[],
  { owner, operation }: OwnershipRequest,
): OwnershipRefusal {
  const isInstall = operation === 'install';
  return new OwnershipRefusal(ownershipMessage(refused, owner, isInstall ? 'install' : 'update'), {
    // An upgrade finds this out in its dry run (spec section 5.2).
    reason: isInstall
      ? bundleDeploymentReason.installFailed
      : bundleDeploymentReason.errorGettingReleaseState,
  });
}

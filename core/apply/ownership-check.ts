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
  readonly signal: AbortSignal;
}

/** A planned object that may be applied. */
export interface CheckedObject extends PlannedObject {
  /** Controllers to remove from it first, because it was adopted. */
  readonly dropControllers: boolean;
  /** RukPak's fields in it are to become ours first. */
  readonly takeOver: boolean;
}

export interface OwnershipCheckOptions {
  readonly client: KubeClient;
  readonly claims: Claims;
  readonly systemNamespace: string;
}

/** Makes sure, before anything is changed, that nothing of somebody else's would be. */
export class OwnershipCheck {
  readonly #options: OwnershipCheckOptions;

  constructor(options: OwnershipCheckOptions) {
    this.#options = options;
  }

  /**
   * Reads the objects that no watch knows and judges all. The set stays claimed for its owner
   * until the engine releases it, so that of two deployments that want one object at the same
   * moment only the first gets it.
   * @throws TerminalError that lists each object of somebody else's (spec section 6, number 5).
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
      return await this.#judge(request);
    } catch (error) {
      claims.release(taken, name);
      throw error;
    }
  }

  async #judge(request: OwnershipRequest): Promise<readonly CheckedObject[]> {
    const refused: RefusedObject[] = [];
    const checked: CheckedObject[] = [];
    const { owner } = request;
    const { systemNamespace } = this.#options;
    await forEachLimit(request.pending, concurrentReads, async (planned) => {
      const live = planned.live ?? (await this.#read(planned, request));
      if (live === undefined) {
        checked.push({ ...planned, live, dropControllers: false, takeOver: false });
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
      checked.push({ ...planned, live, dropControllers, takeOver });
    });
    if (refused.length > 0) throw refusal(refused, request);
    return checked;
  }

  async #read(
    { desired }: PlannedObject,
    { presentAs, signal }: OwnershipRequest,
  ): Promise<KubernetesObject | undefined> {
    const resource = presentAs(desired);
    if (resource === undefined) return undefined;
    try {
      return await this.#options.client.get(resource, desired.key, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function refusal(
  refused: readonly RefusedObject[],
  { owner, operation }: OwnershipRequest,
): TerminalError {
  const isInstall = operation === 'install';
  return new TerminalError(ownershipMessage(refused, owner, isInstall ? 'install' : 'update'), {
    // An upgrade finds this out in its dry run (spec section 5.2).
    reason: isInstall
      ? bundleDeploymentReason.installFailed
      : bundleDeploymentReason.errorGettingReleaseState,
  });
}

import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { TerminalError } from '../../errors.ts';
import { type KubeClient, liveObject, type Resource } from '../../platform/kube/index.ts';
import type { CheckedObject, DesiredObject, PlannedObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { isNamespace } from '../objects/order.ts';
import type { OwnerState, OwnerStates } from '../state/owner-state.ts';
import { type ConsentedOwnership, consentedOwnership, DeploymentConsent } from './consent.ts';
import { isLeftByRukpak, ownershipOf } from './ownership.ts';
import { ownershipMessage, type RefusedObject } from './ownership-message.ts';

const concurrentReads = 8;

export interface OwnershipRequest {
  readonly owner: BundleDeployment;
  readonly operation: 'install' | 'upgrade';
  /** Every object of the set. */
  readonly desired: readonly DesiredObject[];
  readonly pending: readonly PlannedObject[];
  /** Objects that are created when their time comes: a refusal names those that could not be, too. */
  readonly hooks?: readonly DesiredObject[];
  /** Their time comes next: what is in their place is a refusal by itself. */
  readonly hooksNext?: boolean;
  /** The resource under which an object can be read; undefined where none can exist yet. */
  readonly presentAs: (desired: DesiredObject) => Resource | undefined;
  /** False for objects that are expected to be missing: creating them finds out. */
  readonly readsFirst: (planned: PlannedObject) => boolean;
  /** Reads with the permissions that the owner has. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
}

/** Objects of somebody else's stand in the way. */
export class OwnershipRefusal extends TerminalError {}

interface OwnershipCheckOptions {
  /** Reads deployments of all classes. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly owners: OwnerStates;
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
    const taken = await this.#claim(request);
    try {
      return await this.judge(request);
    } catch (error) {
      this.#stateOf(request).release(taken);
      throw error;
    }
  }

  /** Claims the set, and nothing where somebody else has a part of it; returns what was free. */
  async #claim(request: OwnershipRequest): Promise<readonly string[]> {
    const { desired, pending } = request;
    const state = this.#stateOf(request);
    for (;;) {
      await this.#claimHandedOver(request);
      const taken = state.claim(desired.map(({ id }) => id));
      const isOthers = ({ desired: { id, resource } }: PlannedObject): boolean =>
        !isNamespace(resource) && state.otherHolder(id) !== undefined;
      if (!pending.some(isOthers)) return taken;
      // Somebody else was quicker while the deployments were asked.
      state.release(taken);
    }
  }

  #stateOf({ owner }: OwnershipRequest): OwnerState {
    return this.#options.owners.of(owner.metadata.name ?? '');
  }

  /**
   * The judgement alone, of objects that are claimed already. What the owner has handed over itself
   * is left out.
   * @throws OwnershipRefusal
   */
  async judge(request: OwnershipRequest): Promise<readonly CheckedObject[]> {
    const refused: RefusedObject[] = [];
    const checked: CheckedObject[] = [];
    const { systemNamespace } = this.#options;
    const consent = this.#consent(request);
    await forEachLimit(request.pending, concurrentReads, async (planned) => {
      const live = planned.live ?? (await read(planned, request));
      if (live === undefined) {
        checked.push(missing(planned));
        return;
      }
      const subject = { owner: request.owner, id: planned.desired.id, live };
      const ownership = await consentedOwnership(subject, systemNamespace, consent);
      if (ownership.verdict === 'transferred' || ownership.verdict === 'used') return;
      if (ownership.verdict !== 'refused') {
        checked.push(this.#checked(request.owner, { ...planned, live }, ownership));
        return;
      }
      const { resource, key } = planned.desired;
      refused.push({ ...ownership, kind: resource.kind, key });
    });
    if (refused.length > 0 || request.hooksNext === true) {
      refused.push(...(await this.#inPlaceOfHooks(request)));
    }
    if (refused.length > 0) throw refusal(refused, request);
    return checked;
  }

  async #inPlaceOfHooks(request: OwnershipRequest): Promise<readonly RefusedObject[]> {
    const { owner, hooks = [], client, signal } = request;
    const refused: RefusedObject[] = [];
    await forEachLimit(hooks, concurrentReads, async ({ resource, key }) => {
      const live = await liveObject(client, { resource, key }, signal);
      if (live === undefined) return;
      const ownership = ownershipOf(live, owner, this.#options.systemNamespace);
      if (ownership.verdict === 'refused') refused.push({ ...ownership, kind: resource.kind, key });
    });
    return refused;
  }

  /** Of two deployments that want an object at once the first has it, unless it gives it. */
  async #claimHandedOver(request: OwnershipRequest): Promise<void> {
    const { owner, pending } = request;
    const state = this.#stateOf(request);
    const consent = this.#consent(request);
    const [refused, given]: [RefusedObject[], string[]] = [[], []];
    for (const { desired } of pending) {
      const deployment = state.otherHolder(desired.id);
      if (deployment === undefined) continue;
      if ((await consent.toTransfer(deployment, owner)) !== undefined) {
        given.push(desired.id);
        continue;
      }
      if (isNamespace(desired.resource)) continue;
      const because = `belongs to BundleDeployment "${deployment}"`;
      refused.push({ kind: desired.resource.kind, key: desired.key, because, deployment });
    }
    if (refused.length > 0) throw refusal(refused, request);
    state.seize(given);
  }

  #consent({ signal }: OwnershipRequest): DeploymentConsent {
    return new DeploymentConsent({ ...this.#options, signal });
  }

  #checked(
    owner: BundleDeployment,
    planned: PlannedObject & { readonly live: KubernetesObject },
    ownership: Exclude<ConsentedOwnership, { verdict: 'refused' | 'transferred' | 'used' }>,
  ): CheckedObject {
    const { systemNamespace } = this.#options;
    const dropControllers = ownership.verdict === 'adopt' && ownership.dropControllers;
    const takeOver = isLeftByRukpak(planned.live, owner, systemNamespace);
    const { transferredBy } = ownership;
    return { ...planned, dropControllers, transferredBy, takeOver, createOnly: false };
  }
}

async function read(
  planned: PlannedObject,
  { presentAs, readsFirst, client, signal }: OwnershipRequest,
): Promise<KubernetesObject | undefined> {
  const { desired } = planned;
  const resource = presentAs(desired);
  if (resource === undefined || !readsFirst(planned)) return undefined;
  return await liveObject(client, { resource, key: desired.key }, signal);
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
    // An upgrade finds this out in its dry run.
    reason: isInstall
      ? bundleDeploymentReason.installFailed
      : bundleDeploymentReason.errorGettingReleaseState,
  });
}

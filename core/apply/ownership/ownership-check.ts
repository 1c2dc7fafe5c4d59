import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { TerminalError } from '../../errors.ts';
import { type KubeClient, liveObject, type Resource } from '../../platform/kube/index.ts';
import type { CheckedObject, DesiredObject, PlannedObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { isNamespace } from '../objects/order.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { type ConsentedOwnership, consentedOwnership, DeploymentConsent } from './consent.ts';
import { foreignRelease, isLeftByRukpak, ownershipOf } from './ownership.ts';
import { ownershipMessage, type RefusedObject } from './ownership-message.ts';

const concurrentReads = 8;

export interface OwnershipRequest {
  readonly owner: BundleDeployment;
  readonly operation: 'install' | 'upgrade';
  /** Every object of the set. */
  readonly desired: readonly DesiredObject[];
  readonly pending: readonly PlannedObject[];
  /** Objects that hooks create later: a refusal also names those that could not be created. */
  readonly hooks?: readonly DesiredObject[];
  /** Hooks run next, so that an object in the place of one is a refusal by itself. */
  readonly hooksNext?: boolean;
  /** The resource with which an object can be read; undefined when it cannot exist yet. */
  readonly presentAs: (desired: DesiredObject) => Resource | undefined;
  /** False for objects that are probably missing: their creation shows it. */
  readonly readsFirst: (planned: PlannedObject) => boolean;
  /** Reads with the permissions of the owner. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
}

/** Foreign objects have the names of objects of the set. */
export class OwnershipRefusal extends TerminalError {}

interface OwnershipCheckOptions {
  /** Reads deployments of all classes. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly owners: OwnerStates;
  readonly systemNamespace: string;
}

/** Ensures that core changes no foreign object. */
export class OwnershipCheck {
  readonly #options: OwnershipCheckOptions;

  constructor(options: OwnershipCheckOptions) {
    this.#options = options;
  }

  /**
   * Reads the objects that no watch knows, unless their creation will show whether they exist, and
   * judges all. The owner keeps its claim on the set until the engine releases it, so that of two
   * deployments that want one object at the same time only the first gets it.
   * @throws OwnershipRefusal that lists each foreign object.
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

  /**
   * Claims the set, or nothing when another deployment has a part of it; returns the IDs that were
   * free.
   */
  async #claim(request: OwnershipRequest): Promise<readonly string[]> {
    const { desired, pending } = request;
    const state = this.#stateOf(request);
    for (;;) {
      await this.#claimHandedOver(request);
      const taken = state.claim(desired.map(({ id }) => id));
      const isOthers = ({ desired: { id, resource } }: PlannedObject): boolean =>
        !isNamespace(resource) && state.otherHolder(id) !== undefined;
      if (!pending.some(isOthers)) return taken;
      // Another deployment claimed a part while core read the deployments.
      state.release(taken);
    }
  }

  #stateOf({ owner }: OwnershipRequest): OwnerState {
    return this.#options.owners.of(owner.metadata.name ?? '');
  }

  /**
   * Judges objects that are claimed already. Leaves out those that the owner has transferred.
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
    // Several hooks may have one name.
    const places = new Map(hooks.map((hook) => [hook.id, hook])).values();
    await forEachLimit([...places], concurrentReads, async ({ resource, key }) => {
      const live = await liveObject(client, { resource, key }, signal);
      if (live === undefined) return;
      const ownership = ownershipOf(live, owner, this.#options.systemNamespace);
      if (ownership.verdict !== 'refused' || isNamespace(resource)) return;
      refused.push({ ...ownership, kind: resource.kind, key });
    });
    return refused;
  }

  /**
   * Of two deployments that want an object at once, the first one has it, unless it transfers it.
   */
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
    const adoptedFrom =
      ownership.verdict === 'adopt'
        ? foreignRelease(planned.live, owner, systemNamespace)
        : undefined;
    const from = { transferredBy, adoptedFrom };
    return { ...planned, ...from, dropControllers, takeOver, createOnly: false };
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
    // The dry run of an upgrade finds this out.
    reason: isInstall
      ? bundleDeploymentReason.installFailed
      : bundleDeploymentReason.errorGettingReleaseState,
  });
}

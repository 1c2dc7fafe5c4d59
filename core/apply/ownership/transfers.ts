import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentReason,
  kstatusCondition,
  progressReason,
  readyReason,
  bundleDeploymentCondition as type,
} from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import type { Blocked } from '../../contracts/applier.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Clock } from '../../platform/clock.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import type { CheckedObject, DesiredObject } from '../objects/desired.ts';
import { describeObject, objectPath } from '../objects/object-id.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { hasAppliedSpec } from './applied-spec.ts';
import { transferTargets } from './ownership.ts';

/**
 * Milliseconds between two checks while another deployment may still take objects: other processes
 * send no event.
 */
const lookInterval = 5000;
/** Milliseconds in which one `kubectl apply` that changes the giver first also changes the taker. */
const patience = 10_000;
const listedObjects = 5;
const listedTakers = 3;
/** Reasons of Progressing with which a deployment has applied its objects already. */
const rolledOut: ReadonlySet<string | undefined> = new Set([
  undefined,
  progressReason.pruneHeld,
  progressReason.kindNotServed,
  // Its Bundle is not healthy in time.
  progressReason.progressDeadlineExceeded,
]);
/** Reasons of Ready with which the other conditions may tell of the spec before. */
const unfinished: ReadonlySet<string | undefined> = new Set([
  readyReason.classAtWork,
  readyReason.installing,
  readyReason.reconcileFailed,
]);
/** Conditions, and their reasons with which a deployment has applied its present spec. */
const telling: readonly (readonly [string, (reason: string | undefined) => boolean])[] = [
  [type.hasValidBundle, (reason) => reason === bundleDeploymentReason.unpackSuccessful],
  [type.installed, (reason) => reason === bundleDeploymentReason.installationSucceeded],
  [type.progressing, (reason) => rolledOut.has(reason)],
  [kstatusCondition.ready, (reason) => !unfinished.has(reason)],
];

interface TransfersOptions {
  /** Reads deployments of all classes. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly inventory: Pick<Inventory, 'get'>;
  readonly owners: OwnerStates;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notify: (owner: string) => void;
}

/**
 * Objects whose ownership one deployment transfers to another (`core.rukpak.io/hand-over`). Wakes
 * the giver when a transferred object is deleted, or goes to a third deployment: the giver may
 * apply it again.
 */
export class Transfers implements ObjectEventListener {
  readonly #options: TransfersOptions;

  constructor(options: TransfersOptions) {
    this.#options = options;
  }

  /** The objects of a set that the owner has transferred already. */
  given(owner: BundleDeployment, objects: readonly DesiredObject[]): ReadonlySet<DesiredObject> {
    const takers = new Set(transferTargets(owner));
    if (takers.size === 0) return new Set();
    return new Set(objects.filter((object) => takers.has(this.#holderOf(object))));
  }

  /** Replaces the transferred objects of the giver that are watched. */
  keep(giver: OwnerState, given: ReadonlySet<DesiredObject>): void {
    giver.given = new Map([...given].map((object) => [object.id, this.#holderOf(object)]));
  }

  hear({ type, entry }: ObjectEvent): void {
    for (const { name, given } of this.#options.owners.awaiting) {
      const taker = given.get(entry.id);
      if (taker === undefined || (type === 'changed' && taker === entry.owner)) continue;
      this.#options.notify(name);
    }
  }

  /**
   * Why none of these objects may be deleted yet; undefined when no other deployment may still take
   * one. A deployment that has rolled out its present spec and took none wants none, unless its spec
   * is about to change together with the giver's. One that does not exist may still be created; then
   * the watch of deployments wakes the giver.
   */
  async pending(
    owner: BundleDeployment,
    dropped: readonly InventoryEntry[],
    signal: AbortSignal,
  ): Promise<Blocked | undefined> {
    const targets = transferTargets(owner);
    const since = this.#droppedSince(owner, dropped);
    if (dropped.length === 0 || targets.length === 0) return undefined;
    const taker = await this.#unsettled(targets, signal);
    const isEarly = this.#options.clock.monotonic() - since < patience;
    if (taker === undefined && !isEarly) return undefined;
    if (taker?.state !== 'missing') this.#lookAgain(owner.metadata.name ?? '');
    const message =
      taker === undefined ? earlyMessage(targets, dropped) : waitingMessage(taker, owner, dropped);
    return { reason: progressReason.pruneHeld, message };
  }

  /**
   * The same for the objects of a giver that is being deleted. It waits for no deployment that does
   * not exist, and not for another spec of one that exists.
   */
  async pendingDeletion(
    owner: BundleDeployment,
    doomed: readonly InventoryEntry[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (doomed.length === 0) return undefined;
    const taker = await this.#unsettled(transferTargets(owner), signal, { isEnding: true });
    if (taker === undefined) return undefined;
    this.#lookAgain(owner.metadata.name ?? '');
    return waitingMessage(taker, owner, doomed);
  }

  async #unsettled(
    targets: readonly string[],
    signal: AbortSignal,
    { isEnding = false }: { readonly isEnding?: boolean } = {},
  ): Promise<AwaitedTaker | undefined> {
    for (const name of targets) {
      const target = { resource: bundleDeploymentResource, key: { name } };
      const live = await liveObject(this.#options.client, target, signal);
      if (live === undefined && isEnding) continue;
      if (live === undefined) return { name, state: 'missing' };
      if (!isSettled(live as BundleDeployment)) return { name, state: 'unsettled' };
    }
    return undefined;
  }

  #droppedSince(owner: BundleDeployment, dropped: readonly InventoryEntry[]): number {
    const { owners, clock } = this.#options;
    const state = owners.of(owner.metadata.name ?? '');
    const ids = new Set(dropped.map(({ id }) => id));
    const { dropped: known } = state;
    const isKnown = known !== undefined && ids.isSubsetOf(known.ids);
    const since = isKnown ? known.since : clock.monotonic();
    state.dropped = { ids, since };
    return since;
  }

  /** Records an Event on both deployments about a transferred object, and wakes the giver. */
  tell(owner: BundleDeployment, { desired, transferredBy: giver }: CheckedObject): void {
    if (giver === undefined) return;
    const { events, notify } = this.#options;
    const what = describeObject(desired.resource.kind, desired.key);
    const { name: giverName = '' } = giver.metadata;
    events.event(giver, {
      type: 'Normal',
      reason: 'ObjectHandedOver',
      message: `Core transferred ${what} to BundleDeployment "${owner.metadata.name ?? ''}", and no longer manages it for this one`,
    });
    events.event(owner, {
      type: 'Normal',
      reason: 'ObjectTakenOver',
      message: `Core transferred ${what} from BundleDeployment "${giverName}" to this one`,
    });
    notify(giverName);
  }

  #lookAgain(owner: string): void {
    const { owners, clock, signal, notify } = this.#options;
    const state = owners.of(owner);
    if (state.awaitsTransfer) return;
    state.awaitsTransfer = true;
    const look = (): void => {
      state.awaitsTransfer = false;
      notify(owner);
    };
    clock.sleep(lookInterval, signal).then(look, () => undefined);
  }

  #holderOf({ resource, key }: DesiredObject): string {
    return this.#options.inventory.get(resource, key)?.owner ?? '';
  }
}

/** In doubt it is not: what the giver deletes is lost. */
function isSettled(taker: BundleDeployment): boolean {
  const { metadata, spec, status } = taker;
  if (metadata.deletionTimestamp !== undefined) return true;
  const { conditions = [], observedGeneration, activeBundle } = status ?? {};
  if (observedGeneration !== metadata.generation) return false;
  if (activeBundle !== bundleName(metadata.name ?? '', templateHash(spec.template))) return false;
  return (
    hasAppliedSpec(taker) === true &&
    telling.every(([name, allows]) => {
      const reason = conditions.find((condition) => condition.type === name)?.reason;
      return allows(reason);
    })
  );
}

interface AwaitedTaker {
  readonly name: string;
  readonly state: 'missing' | 'unsettled';
}

function earlyMessage(takers: readonly string[], dropped: readonly InventoryEntry[]): string {
  const names = takers.map((name) => `BundleDeployment "${name}"`);
  const waits = `core waits ${patience / 1000} s, in case ${shortList(names, listedTakers)} changes too, and adopts them`;
  return `not deleted: ${shortList(pathsOf(dropped), listedObjects)}: ${waits}`;
}

function pathsOf(entries: readonly InventoryEntry[]): readonly string[] {
  return entries.map(({ resource, key }) => objectPath(resource.kind, key));
}

function waitingMessage(
  { name, state }: AwaitedTaker,
  owner: BundleDeployment,
  dropped: readonly InventoryEntry[],
): string {
  const { name: giver = '' } = owner.metadata;
  const waits = `not deleted: ${shortList(pathsOf(dropped), listedObjects)}: BundleDeployment "${name}" may adopt them`;
  return state === 'missing'
    ? `${waits}, and does not exist. Create it, or remove its name from annotation ${annotation.handOver} of BundleDeployment "${giver}"`
    : `${waits}, and has not rolled out its current spec yet. To delete them: kubectl annotate bundledeployment ${giver} ${annotation.handOver}-`;
}

import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import type {
  HookProgress,
  HookRequest,
  RunningHook,
  RunningHookRequest,
} from '../../contracts/hooks.ts';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type Discovery,
  isConflict,
  isNotFound,
  type KubeClient,
  liveObject,
} from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { KindWatches } from '../kinds/kind-watches.ts';
import { objectPath } from '../objects/object-id.ts';
import { isNamespace, isNamespaceOrDefinition, isWorkload } from '../objects/order.ts';
import { isHookObject } from '../objects/owner-marks.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import { clientOf } from '../privilege/permissions.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import type { Deletions, DoomedObject } from '../write/deletions.ts';
import type { ServerSideApply } from '../write/server-side-apply.ts';
import { hookRunOf, isOfRun } from './hook.ts';
import { expiryOf, hookObject, hookRefusal, hookResource } from './hook-object.ts';
import { awaitHook, hookOutcome, noteHookEnd, progressOf } from './hook-watch.ts';
import {
  fromBefore,
  isKeptByUser,
  isOfHook,
  isToBeRenewed,
  type Placed,
  reasonToStay,
  takeUp,
} from './replaced-object.ts';
import { described, RunningHooks } from './running-hooks.ts';

interface HookRunnerOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly systemNamespace: string;
  readonly apply: ServerSideApply;
  readonly inventory: Inventory;
  readonly watches: KindWatches;
  readonly owners: OwnerStates;
  readonly deletions: Deletions;
  readonly clock: Clock;
}

/** Runs single hooks. Each call does what it can without waiting; another call continues. */
export class HookRunner {
  readonly #options: HookRunnerOptions;
  readonly #running: RunningHooks;

  constructor(options: HookRunnerOptions) {
    this.#options = options;
    this.#running = new RunningHooks(options);
  }

  /**
   * Finds the object of this run, or creates it after the running hooks of other runs have ended.
   * Deletes the object of an earlier run first when the hook's policy says so.
   * @throws TerminalError when another object has the hook's name; ApiError.
   */
  async run(request: HookRequest): Promise<HookProgress> {
    const placed = await this.#place(request);
    const { owner, desired } = placed;
    const { watches, owners } = this.#options;
    await watches.ensure([desired.resource], request.signal);
    const state = owners.of(owner.metadata.name ?? '');
    const ended = awaitHook(state, desired.id, request.run);
    const known = ended ?? (await this.#behind(placed)) ?? (await this.#find(placed));
    const progress = known ?? (await this.#create(placed));
    if (progress.state === 'succeeded' || progress.state === 'failed') noteHookEnd(state, progress);
    return progress;
  }

  /**
   * Deletes the object of this run, or of a later attempt of it; never another object, nor one that
   * holds objects of others.
   */
  async remove(request: HookRequest): Promise<void> {
    const { owner, hook, signal } = request;
    const entry = await this.#objectOf(request);
    if (entry === undefined || isKeptByUser(entry.object, hook)) return;
    await this.#delete(entry, { owner, client: clientOf(owner, this.#options.client), signal });
  }

  /** Has Kubernetes delete the Job of this run, or of a later attempt, when the hook says. */
  async expire(request: HookRequest): Promise<void> {
    const { owner, hook, signal } = request;
    const ttlSecondsAfterFinished = expiryOf(hook);
    if (ttlSecondsAfterFinished === undefined) return;
    const entry = await this.#objectOf(request);
    if (entry === undefined || expiryOf(entry.object) !== undefined) return;
    const patch = { spec: { ttlSecondsAfterFinished } };
    const client = clientOf(owner, this.#options.client);
    await client.patch(entry, patch, { type: 'merge', signal }).catch((error: unknown) => {
      // Others have deleted it.
      if (!isNotFound(error)) throw error;
    });
  }

  /** The object of this run, or of a later attempt of it, unless it may hold objects of others. */
  async #objectOf({ owner, hook, run, signal }: HookRequest): Promise<InventoryEntry | undefined> {
    const { discovery, systemNamespace, inventory, watches } = this.#options;
    const resource = await discovery.resourceFor(gvkOf(hook), signal);
    if (resource === undefined || isNamespaceOrDefinition(resource)) return undefined;
    await watches.ensure([resource], signal);
    const { key } = hookObject(hook, resource, { owner, systemNamespace, run });
    const entry = inventory.get(resource, key);
    return entry?.deleted === false && isOfRun(entry.object, run) ? entry : undefined;
  }

  /** The oldest hook that has not ended; its end wakes the owner. */
  async running(request: RunningHookRequest): Promise<RunningHook | undefined> {
    const namespaces = this.#near(request.owner, request.namespaces);
    return await this.#running.find({ ...request, namespaces });
  }

  /** Two migrations at once may destroy the data that both change. */
  async #behind(placed: Placed): Promise<HookProgress | undefined> {
    const { owner, run, desired, signal } = placed;
    const known = this.#options.inventory.get(desired.resource, desired.key);
    if (known !== undefined && hookRunOf(known.object) === run) return undefined;
    const namespaces = this.#near(owner, [desired.key.namespace ?? '']);
    const other = await this.#running.find({ owner, run, namespaces, signal });
    return other && { state: 'behind', other };
  }

  /** Those namespaces and the owner's install namespace. */
  #near(owner: BundleDeployment, namespaces: Iterable<string>): ReadonlySet<string> {
    return new Set([installNamespaceOf(owner, this.#options.systemNamespace), ...namespaces]);
  }

  /** The progress that the watch has reported. */
  async #find(placed: Placed): Promise<HookProgress | undefined> {
    const { owner, desired } = placed;
    const known = this.#options.inventory.get(desired.resource, desired.key);
    const isOwn = known?.deleted === false && known.owner === owner.metadata.name;
    if (!isOwn) return undefined;
    const progress = await this.#judge(placed, known.object);
    if (progress?.state !== 'running') return progress;
    return { ...progress, problem: await this.#running.problem(owner, known, placed.signal) };
  }

  async #place(request: HookRequest): Promise<Placed> {
    const { owner, hook } = request;
    const { client, systemNamespace } = this.#options;
    const resource = await hookResource(request, this.#options);
    const desired = hookObject(hook, resource, { ...request, systemNamespace });
    return { ...request, desired, client: clientOf(owner, client) };
  }

  async #create(placed: Placed): Promise<HookProgress> {
    const { client, owner, desired, signal } = placed;
    try {
      const request = { client, owner, desired, createOnly: true, signal };
      const stored = await this.#options.apply.apply(request);
      this.#options.inventory.put(desired.resource, stored);
      return progressOf(stored);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    const live = await liveObject(client, desired, signal);
    const found = live === undefined ? undefined : await this.#judge(placed, live);
    // The conflicting object has been deleted, or soon will be.
    return found ?? { state: 'replacing' };
  }

  /** Judges the object that has the hook's name; undefined when there is none any more. */
  async #judge(placed: Placed, live: KubernetesObject): Promise<HookProgress | undefined> {
    const { owner, desired, run } = placed;
    const { resource, key } = desired;
    const ownership = ownershipOf(live, owner, this.#options.systemNamespace);
    if (ownership.verdict === 'refused' || ownership.verdict === 'transferred') {
      // As for any other Namespace that exists: the deployment uses it unchanged.
      if (isNamespace(resource)) return { state: 'succeeded' };
      throw hookRefusal(owner, { kind: resource.kind, key }, ownership);
    }
    if (live.metadata.deletionTimestamp !== undefined) return { state: 'replacing' };
    if (ownership.verdict === 'ours' && hookRunOf(live) === run) return progressOf(live);
    // An adopted object belongs to the deployment, and the hook replaces it.
    const isOurs = ownership.verdict === 'adopt' || isOfHook(live, owner);
    return isHookObject(live)
      ? await this.#follow(placed, live, isOurs)
      : await this.#replace(placed, live, isOurs);
  }

  /** Takes the place of the object of an earlier run. */
  async #follow(
    placed: Placed,
    live: KubernetesObject,
    isOurs: boolean,
  ): Promise<HookProgress | undefined> {
    const { resource, key } = placed.desired;
    // The watch has not told of it yet, or the deployment that made it has orphaned it.
    if (hookOutcome(live).state === 'running') {
      return { state: 'behind', other: described({ resource, key, object: live }) };
    }
    return isOurs && isToBeRenewed(live, placed)
      ? await this.#renew(placed, live)
      : await this.#replace(placed, live, isOurs);
  }

  /** Applies the hook's object over that of an earlier run. */
  async #renew(placed: Placed, { metadata: { uid } }: KubernetesObject): Promise<HookProgress> {
    const { client, owner, desired, signal } = placed;
    const request = { client, owner, desired, createOnly: false, uid, signal };
    const stored = await this.#options.apply.apply(request);
    this.#options.inventory.put(desired.resource, stored);
    return progressOf(stored);
  }

  /** Deletes the object in the place of the hook, if it may; undefined when the place is free. */
  async #replace(
    placed: Placed,
    live: KubernetesObject,
    isOurs: boolean,
  ): Promise<HookProgress | undefined> {
    const { owner, desired, client, signal } = placed;
    const { resource, key } = desired;
    const because = isOurs ? reasonToStay(live, placed) : fromBefore;
    if (because !== undefined)
      throw new TerminalError(`${objectPath(resource.kind, key)} ${because}`);
    const object = await takeUp(live, placed);
    const doomed = { resource, key, object, deleted: false };
    await this.#delete(doomed, { owner, client, signal });
    return isWorkload(resource.kind) ? { state: 'replacing' } : undefined;
  }

  async #delete(
    doomed: DoomedObject,
    { owner, client, signal }: Pick<Placed, 'owner' | 'client' | 'signal'>,
  ): Promise<void> {
    const { deletions } = this.#options;
    const context = { owner, because: 'its hook has run', client, podsFirst: true, signal };
    const [failure] = await deletions.delete([doomed], context);
    if (failure !== undefined) throw failure.error;
  }
}

import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { RunningHook, RunningHookRequest } from '../../contracts/hooks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Discovery, KubeClient } from '../../platform/kube/index.ts';
import { workloadReason } from '../health/pod-reason.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { KindWatches } from '../kinds/kind-watches.ts';
import { objectPath } from '../objects/object-id.ts';
import { isHookObject, parseGroupKinds } from '../objects/owner-marks.ts';
import { clientOf } from '../privilege/permissions.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { hookBundleOf, hookRunOf } from './hook.ts';
import { awaitHook, hookOutcome, isRunnable } from './hook-watch.ts';
import { isOfHook } from './replaced-object.ts';

/** Milliseconds in which the pods of most hooks become ready. */
const explainAfter = 5_000;

interface RunningHooksOptions {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly discovery: Discovery;
  readonly inventory: Inventory;
  readonly watches: KindWatches;
  readonly owners: OwnerStates;
}

/** In other namespaces others may create objects that look like the owner's. */
interface OtherRunRequest extends RunningHookRequest {
  /** A run that does not count. */
  readonly run?: string;
}

/** Finds the hooks of deployments that still run, also of earlier revisions. */
export class RunningHooks {
  readonly #options: RunningHooksOptions;

  constructor(options: RunningHooksOptions) {
    this.#options = options;
  }

  /** The oldest running hook of another run; makes the owner wait for it. */
  async find(request: OtherRunRequest): Promise<RunningHook | undefined> {
    const { owner, signal } = request;
    const { inventory, owners } = this.#options;
    const { name = '' } = owner.metadata;
    await this.#watch(owner, signal);
    const awaited = owners.find(name)?.hook?.id;
    const entries = inventory
      .ownedBy(name)
      .filter((entry) => isRunning(entry, request) && isInPlace(entry, request, awaited));
    const [oldest] = entries.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
    if (oldest === undefined) return undefined;
    awaitHook(owners.of(name), oldest.id, hookRunOf(oldest.object));
    return { ...described(oldest), problem: await this.problem(owner, oldest, signal) };
  }

  /**
   * Why the pod of a hook that has run for a while is not ready, such as an image that cannot be
   * pulled. Asks with the owner's permissions, and leaves out what the API server does not show.
   */
  async problem(
    owner: BundleDeployment,
    { resource, key, object }: Pick<InventoryEntry, 'resource' | 'key' | 'object'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const since = Date.parse(object.metadata.creationTimestamp ?? '');
    if (this.#options.clock.now() - since < explainAfter) return undefined;
    const client = clientOf(owner, this.#options.client);
    const reason = await workloadReason(client, { resource, key }, signal).catch(() => undefined);
    signal.throwIfAborted();
    return reason;
  }

  /** A process that has just started watches the kinds of the target only. */
  async #watch({ status }: BundleDeployment, signal: AbortSignal): Promise<void> {
    const { discovery, watches } = this.#options;
    const kinds = parseGroupKinds(status?.groupKinds?.join()).filter(isRunnable);
    const served = kinds.map(({ group, kind }) =>
      discovery.resourceForGroupKind(group, kind, signal),
    );
    const resources = await Promise.all(served);
    await watches.ensure(
      resources.filter((resource) => resource !== undefined),
      signal,
    );
  }
}

function isRunning({ object }: InventoryEntry, { owner, run }: OtherRunRequest): boolean {
  if (!isHookObject(object) || hookRunOf(object) === run || !isOfHook(object, owner)) return false;
  return hookOutcome(object).state === 'running';
}

/** `awaited`: ID of the hook for which this process already waits, wherever that is. */
function isInPlace(
  { id, key }: InventoryEntry,
  { namespaces }: OtherRunRequest,
  awaited: string | undefined,
): boolean {
  return namespaces.has(key.namespace ?? '') || id === awaited;
}

function ageOf({ id, object }: InventoryEntry): string {
  return `${object.metadata.creationTimestamp ?? ''} ${id}`;
}

/** A live object of a hook, for messages. */
export function described({
  resource,
  key,
  object,
}: Pick<InventoryEntry, 'resource' | 'key' | 'object'>): RunningHook {
  const [event] = hookRunOf(object).split(' ');
  const bundle = hookBundleOf(object);
  // Earlier versions of core did not note the Bundle.
  const version = bundle === '' ? 'an earlier version' : `Bundle "${bundle}"`;
  const hook = `${event} hook ${objectPath(resource.kind, key)} of ${version}`;
  return { hook, since: object.metadata.creationTimestamp ?? '' };
}

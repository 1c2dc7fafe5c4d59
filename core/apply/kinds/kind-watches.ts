import { apiVersionOf, type GroupVersionKind } from '../../../api/gvk.ts';
import { stringAt } from '../../../api/json-fields.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import type { Logger } from '../../contracts/logger.ts';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  ApiError,
  type Discovery,
  isNotFound,
  type KubeClient,
  Reflector,
  type Resource,
} from '../../platform/kube/index.ts';
import { withOwnFieldsOnly } from '../fields/projection.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { isDefinition } from '../objects/order.ts';
import type { OpenAPIDocuments } from './openapi-documents.ts';

const syncTimeout = 30_000;
/** Milliseconds: the server may refuse a kind that was just created or just allowed. */
const refusedTimeout = 3_000;
const checkInterval = 250;

interface KindWatchesOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends every watch. */
  readonly signal: AbortSignal;
}

interface KindWatch {
  readonly resource: Resource;
  readonly reflector: Reflector;
  readonly abort: AbortController;
}

/**
 * One label-selected watch per kind and version, shared by all deployments. A watch starts when a
 * deployment first needs its kind and runs until its CRD goes away.
 */
export class KindWatches {
  readonly #options: KindWatchesOptions;
  readonly #watches = new Map<string, KindWatch>();

  constructor(options: KindWatchesOptions) {
    this.#options = options;
  }

  /**
   * The resource with which a group and kind is watched, in any version. Undefined also when the
   * server reports that it is not found: it may have another resource.
   */
  watched({ group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>): Resource | undefined {
    for (const { resource } of this.#watches.values()) {
      if (resource.group === group && resource.kind === kind)
        return this.#working(resource)?.resource;
    }
    return undefined;
  }

  /**
   * Starts the missing watches and waits until the inventory knows all objects of these kinds.
   * @throws TerminalError (CreateDynamicWatchFailed) when the server forbids or does not support
   * the watch, Error when the kind no longer exists or the list takes more than 30 seconds.
   */
  async ensure(resources: Iterable<Resource>, signal: AbortSignal): Promise<void> {
    const waiting: KindWatch[] = [];
    // The first resource of a kind counts: an earlier set may have had another scope.
    const kinds = Map.groupBy(resources, keyOfKind);
    for (const [resource] of kinds.values()) {
      if (resource === undefined) continue;
      const watch = this.#working(resource) ?? this.#start(resource);
      if (!watch.reflector.synced) waiting.push(watch);
    }
    await Promise.all(waiting.map((watch) => this.#synced(watch, signal)));
  }

  /** Ends the watches of a kind that is no longer served and forgets its objects. */
  stop({ group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>): void {
    for (const [key, { resource, abort }] of this.#watches) {
      if (resource.group !== group || resource.kind !== kind) continue;
      this.#watches.delete(key);
      abort.abort();
      this.#options.inventory.dropKind(resource);
    }
  }

  /**
   * The watch of a kind; none when the kind no longer exists, because its objects would stay known
   * for ever.
   */
  #working(resource: Resource): KindWatch | undefined {
    const watch = this.#watches.get(keyOfKind(resource));
    if (watch === undefined) return undefined;
    const isMissing = watch.reflector.synced && isNotFound(watch.reflector.lastError);
    // A CRD that was recreated with another scope gives its objects other keys.
    const isOther = watch.resource.namespaced !== resource.namespaced;
    if (!isMissing && !isOther) return watch;
    if (isMissing) this.#options.discovery.invalidate();
    this.stop(resource);
    return undefined;
  }

  #start(resource: Resource): KindWatch {
    const { client, inventory, clock, logger, signal } = this.#options;
    const abort = new AbortController();
    const reflector = new Reflector({
      client,
      resource,
      labelSelector: `${label.ownerKind}=BundleDeployment`,
      sink: inventory.sink(resource),
      transform: withOwnFieldsOnly,
      clock,
      logger,
    });
    const watch = { resource, reflector, abort };
    this.#watches.set(keyOfKind(resource), watch);
    void reflector.run(AbortSignal.any([signal, abort.signal]));
    return watch;
  }

  async #synced(watch: KindWatch, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const limit = AbortSignal.any([signal, watch.abort.signal, done.signal]);
    const failure = this.#failure(watch, limit);
    try {
      await Promise.race([watch.reflector.whenSynced(limit), failure]);
    } finally {
      done.abort();
      await failure.catch(() => undefined);
    }
  }

  /** Rejects when the first list has finally failed. */
  async #failure({ reflector, resource }: KindWatch, signal: AbortSignal): Promise<never> {
    const { clock, discovery } = this.#options;
    const started = clock.monotonic();
    for (;;) {
      await clock.sleep(checkInterval, signal);
      const { lastError } = reflector;
      const missing = isNotFound(lastError);
      const refused = lastError instanceof ApiError && [403, 405].includes(lastError.code);
      const timeout = missing || refused ? refusedTimeout : syncTimeout;
      if (clock.monotonic() - started < timeout) continue;
      if (missing) {
        // Its CRD was deleted, and cached discovery does not know.
        discovery.invalidate();
        this.stop(resource);
      }
      const cause = lastError?.message ?? `no answer within ${timeout / 1000} s`;
      const message = `cannot watch ${resource.plural} of ${apiVersionOf(resource)}: ${cause}`;
      const reason = bundleDeploymentReason.createDynamicWatchFailed;
      throw refused ? new TerminalError(message, { reason }) : new Error(message);
    }
  }
}

function keyOfKind({ group, version, kind }: Resource): string {
  return `${group}|${version}|${kind}`;
}

interface KindLifecycleOptions {
  readonly discovery: Discovery;
  readonly documents: OpenAPIDocuments;
  readonly watches: KindWatches;
}

/** Updates kinds, watches and schemas when CRDs are created and deleted. */
export class KindLifecycle implements ObjectEventListener {
  readonly #options: KindLifecycleOptions;

  constructor(options: KindLifecycleOptions) {
    this.#options = options;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (!isDefinition(entry.resource)) return;
    if (type === 'changed') this.#options.documents.invalidate();
    if (type === 'removed') this.#definitionGone(entry);
  }

  #definitionGone({ object: { spec } }: InventoryEntry): void {
    const { discovery, documents, watches } = this.#options;
    documents.invalidate();
    const [group, kind] = [stringAt(spec, 'group'), stringAt(spec, 'names', 'kind')];
    if (group === undefined || kind === undefined) {
      discovery.invalidate();
      return;
    }
    discovery.invalidate({ group, kind });
    watches.stop({ group, kind });
  }
}

import { label } from '../../api/v1alpha1/labels.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../contracts/logger.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { Reflector } from '../kube/reflector.ts';
import { apiVersionOf, type GroupVersionKind, type Resource } from '../kube/resource.ts';
import type { Inventory } from './inventory.ts';
import { withOwnFieldsOnly } from './projection.ts';

const syncTimeout = 30_000;

export interface KindWatchesOptions {
  readonly client: KubeClient;
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

  /** The resource under which a group and kind is watched, whatever the version. */
  watched({ group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>): Resource | undefined {
    for (const { resource } of this.#watches.values()) {
      if (resource.group === group && resource.kind === kind) return resource;
    }
    return undefined;
  }

  /**
   * Starts the missing watches and waits until the inventory knows all objects of these kinds.
   * @throws Error naming the kind where that takes more than 30 seconds.
   */
  async ensure(resources: Iterable<Resource>, signal: AbortSignal): Promise<void> {
    const waiting: KindWatch[] = [];
    for (const resource of resources) {
      const watch = this.#watches.get(keyOfKind(resource)) ?? this.#start(resource);
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

  async #synced({ resource, reflector, abort }: KindWatch, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const limit = AbortSignal.any([signal, abort.signal, done.signal]);
    const timeout = this.#options.clock.sleep(syncTimeout, limit).then(() => {
      throw new Error(
        `cannot list ${resource.plural} of ${apiVersionOf(resource)}: ` +
          (reflector.lastError?.message ?? `no answer within ${syncTimeout / 1000} s`),
      );
    });
    try {
      await Promise.race([reflector.whenSynced(limit), timeout]);
    } finally {
      done.abort();
      await timeout.catch(() => undefined);
    }
  }
}

function keyOfKind({ group, version, kind }: Resource): string {
  return `${group}|${version}|${kind}`;
}

import type { Clock } from '../../core/controller.ts';
import { inlineResolver } from '../../operators/catalogs/index.ts';
import { extensionControllers } from '../../operators/extensions/index.ts';
import { CatalogReplica, type ReplicaOptions } from './catalog-replica.ts';

import { silentLogger } from './silent-logger.ts';

export interface OperatorsReplicaOptions extends Omit<ReplicaOptions, 'isFollower' | 'overrides'> {
  readonly clock: Clock;
}

/** A replica of `rukpak operators` within the test's process; it leads when the test says so. */
export class OperatorsReplica {
  readonly catalogs: CatalogReplica;
  readonly #extensions: ReturnType<typeof extensionControllers>;
  readonly #stop = new AbortController();
  readonly #watching: Promise<unknown>;
  #leading: { readonly end: AbortController; readonly done: Promise<unknown> } | undefined;

  private constructor(catalogs: CatalogReplica, options: OperatorsReplicaOptions) {
    this.catalogs = catalogs;
    const { contents } = catalogs.controllers;
    this.#extensions = extensionControllers({
      client: options.client,
      contents,
      resolver: inlineResolver(contents),
      events: { event: () => undefined },
      clock: options.clock,
      logger: silentLogger,
      forceSemverUpgradeConstraints: true,
      installDependencies: false,
    });
    const { signal } = this.#stop;
    this.#watching = Promise.all(this.#extensions.caches.map((cache) => cache.run(signal)));
  }

  static async start(options: OperatorsReplicaOptions): Promise<OperatorsReplica> {
    const overrides = { clock: options.clock };
    const catalogs = await CatalogReplica.start({ ...options, isFollower: true, overrides });
    return new OperatorsReplica(catalogs, options);
  }

  /** Begins to write, as the holder of the lease. */
  async lead(): Promise<void> {
    const { caches, controllers } = this.#extensions;
    await Promise.all(caches.map(async (cache) => await cache.ready?.(this.#stop.signal)));
    const end = new AbortController();
    const parts = [this.catalogs.controllers.leader, ...controllers];
    this.#leading = { end, done: Promise.all(parts.map((part) => part.run(end.signal))) };
  }

  /** Has lost the lease. */
  async resign(): Promise<void> {
    this.#leading?.end.abort(new Error('another replica leads'));
    await this.#leading?.done;
    this.#leading = undefined;
  }

  async stop(): Promise<void> {
    await this.resign();
    this.#stop.abort(new Error('the replica stops'));
    await this.#watching;
    await this.catalogs.stop();
  }
}

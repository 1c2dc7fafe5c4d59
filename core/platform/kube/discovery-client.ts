import type { Logger } from '../../contracts/logger.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type DiscoveredGroups, groupsIn } from './discovered-groups.ts';
import type { Discovery, NamespacedKinds, ServedApis } from './discovery.ts';
import type { KubeClient } from './kube-client.ts';
import { LostKinds } from './lost-kinds.ts';
import type { GroupVersionKind, Resource } from './resource.ts';

/** Kubernetes 1.30 and later serve v2, 1.27 to 1.29 v2beta1. */
export const aggregatedDiscovery = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

export interface DiscoveryClientOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  readonly logger?: Logger | undefined;
}

/** Discovery by two requests for everything; concurrent callers share them. */
export class DiscoveryClient implements Discovery, ServedApis, NamespacedKinds {
  readonly #client: KubeClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lost: LostKinds;
  #groups: Promise<DiscoveredGroups> | undefined;
  /** When an incomplete answer is to be read anew. */
  #staleAt = Number.POSITIVE_INFINITY;

  constructor(client: KubeClient, { clock = systemClock, logger }: DiscoveryClientOptions = {}) {
    this.#client = client;
    this.#clock = clock;
    this.#lost = new LostKinds({ client, clock, logger });
  }

  async resourceFor(gvk: GroupVersionKind, signal?: AbortSignal): Promise<Resource | undefined> {
    return (await this.#read(signal)).resourceFor(gvk);
  }

  async resourceForGroupKind(
    group: string,
    kind: string,
    signal?: AbortSignal,
  ): Promise<Resource | undefined> {
    return (await this.#read(signal)).resourceForGroupKind(group, kind);
  }

  async namespacedResources(signal?: AbortSignal): Promise<readonly Resource[]> {
    return (await this.#read(signal)).namespacedResources();
  }

  async apiVersions(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#read(signal)).apiVersions;
  }

  invalidate(deleted?: Pick<GroupVersionKind, 'group' | 'kind'>): void {
    if (deleted !== undefined) this.#lost.forget(deleted);
    this.#groups = undefined;
  }

  async #read(signal: AbortSignal | undefined): Promise<DiscoveredGroups> {
    signal?.throwIfAborted();
    if (this.#clock.monotonic() >= this.#staleAt) this.#groups = undefined;
    let groups = this.#groups;
    if (groups === undefined) {
      // Not the caller's signal: others may wait for the same answer.
      this.#staleAt = Number.POSITIVE_INFINITY;
      groups = this.#fetch();
      this.#groups = groups;
      const mine = groups;
      mine.catch(() => {
        if (this.#groups === mine) this.#groups = undefined;
      });
    }
    return signal === undefined ? await groups : await abortable(groups, signal);
  }

  async #fetch(): Promise<DiscoveredGroups> {
    const paths = ['/api', '/apis'];
    const lists = await Promise.all(
      paths.map(
        async (path) =>
          await this.#client.request({ method: 'GET', path, accept: aggregatedDiscovery }),
      ),
    );
    const groups = groupsIn(lists);
    const wait = await this.#lost.complete(groups);
    if (wait !== undefined) this.#staleAt = this.#clock.monotonic() + wait;
    return groups;
  }
}

async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

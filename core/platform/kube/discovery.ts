import type { GroupVersionKind } from '../../../api/gvk.ts';
import type { Logger } from '../../contracts/logger.ts';
import { abortable, type Clock, systemClock } from '../clock.ts';
import { type DiscoveredGroups, groupsIn } from './discovered-groups.ts';
import type { KubeClient } from './kube-client.ts';
import { LostKinds } from './lost-kinds.ts';
import type { Resource } from './resource.ts';

/** Finds where kinds live (aggregated discovery, cached until `invalidate`). */
export interface Discovery {
  /**
   * The resource of a kind, or undefined where the cluster does not serve it.
   * @throws Error where the API server cannot tell now.
   */
  resourceFor(gvk: GroupVersionKind, signal?: AbortSignal): Promise<Resource | undefined>;
  /**
   * The preferred version of a kind by group and kind alone, for inventories that name no version;
   * undefined also where objects of the kind are not kept, such as reviews.
   */
  resourceForGroupKind(
    group: string,
    kind: string,
    signal?: AbortSignal,
  ): Promise<Resource | undefined>;
  /**
   * Reads anew at the next call: CRDs changed. A kind that was served and is missing then is not
   * taken as gone before its CRD or APIService is, unless `deleted` names it.
   */
  invalidate(deleted?: Pick<GroupVersionKind, 'group' | 'kind'>): void;
}

/** Tells all that the cluster serves. */
export interface ServedApis {
  /**
   * All versions (`v1`, `apps/v1`) and kinds (`v1/Pod`, `apps/v1/Deployment`), sorted; the same
   * array until something is read anew. Without what an aggregated API server does not tell, with
   * kinds that were served and are missing for less than a minute, or are still defined.
   */
  apiVersions(signal?: AbortSignal): Promise<readonly string[]>;
}

/** Tells what a namespace can hold. */
export interface NamespacedKinds {
  /**
   * Every namespaced kind of which objects are stored and can be deleted, in its preferred version.
   * @throws Error where an aggregated API server does not tell.
   */
  namespacedResources(signal?: AbortSignal): Promise<readonly Resource[]>;
}

/** Kubernetes 1.30 and later serve v2, 1.27 to 1.29 v2beta1. */
export const aggregatedDiscovery = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

interface DiscoveryClientOptions {
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

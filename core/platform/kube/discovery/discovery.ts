import type { GroupVersionKind } from '../../../../api/gvk.ts';
import type { Logger } from '../../../contracts/logger.ts';
import { abortable, type Clock, systemClock } from '../../clock.ts';
import type { KubeClient } from '../kube-client.ts';
import type { Resource } from '../resource.ts';
import { type DiscoveredGroups, groupsIn } from './discovered-groups.ts';
import { LostKinds } from './lost-kinds.ts';
import { unlistedDefinition } from './unlisted-kinds.ts';

/** Finds the resources of kinds (aggregated discovery, cached until `invalidate`). */
export interface Discovery {
  /**
   * The resource of a kind; undefined when the cluster does not serve it.
   * @throws Error when the API server cannot answer now.
   */
  resourceFor(gvk: GroupVersionKind, signal?: AbortSignal): Promise<Resource | undefined>;
  /**
   * The preferred version of a kind, for inventories that name no version; undefined also for kinds
   * whose objects are not stored, such as reviews.
   */
  resourceForGroupKind(
    group: string,
    kind: string,
    signal?: AbortSignal,
  ): Promise<Resource | undefined>;
  /**
   * Discovers again at the next call, because CRDs changed. A kind that was served and is missing
   * then counts as removed only after its CRD or APIService is deleted, unless `deleted` names it.
   */
  invalidate(deleted?: Pick<GroupVersionKind, 'group' | 'kind'>): void;
}

/** Milliseconds between two questions. */
const listingInterval = 200;

/**
 * The resource of a kind, also of one that the API server lists only some time after its CRD is
 * established; undefined when it does not within `patience` milliseconds.
 */
export async function awaitResource(
  discovery: Pick<Discovery, 'resourceFor' | 'invalidate'>,
  gvk: GroupVersionKind,
  {
    patience,
    clock,
    signal,
  }: { readonly patience: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Resource | undefined> {
  const known = await discovery.resourceFor(gvk, signal);
  if (known !== undefined) return known;
  const deadline = clock.monotonic() + patience;
  for (;;) {
    discovery.invalidate();
    const resource = await discovery.resourceFor(gvk, signal);
    if (resource !== undefined || clock.monotonic() >= deadline) return resource;
    await clock.sleep(listingInterval, signal);
  }
}

/** Lists everything that the cluster serves. */
export interface ServedApis {
  /**
   * All versions (`v1`, `apps/v1`) and kinds (`v1/Pod`, `apps/v1/Deployment`), sorted; the same
   * array until the next discovery. Lacks the kinds of an aggregated API server that does not
   * answer; includes kinds that were served and are missing for less than a minute, or are still
   * defined.
   */
  apiVersions(signal?: AbortSignal): Promise<readonly string[]>;
}

/** Lists the kinds of objects in a namespace. */
export interface NamespacedKinds {
  /**
   * Every namespaced kind whose objects are stored and can be deleted, in its preferred version.
   * @throws Error when an aggregated API server does not answer, or when the API server omits a kind
   * whose CRD or APIService exists.
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

/** Discovers everything with two requests; concurrent callers share them. */
export class DiscoveryClient implements Discovery, ServedApis, NamespacedKinds {
  readonly #client: KubeClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lost: LostKinds;
  #groups: Promise<DiscoveredGroups> | undefined;
  /** Time at which an incomplete answer must be refreshed. */
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
    const groups = await this.#read(signal);
    const resources = groups.namespacedResources();
    // This process may have seen no other answer to compare with.
    const unlisted = await unlistedDefinition(groups, this.#client, signal);
    if (unlisted === undefined) return resources;
    throw new Error(`${unlisted} exists, but the API server does not list its kinds now`);
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
      // Without the caller's signal, because others may wait for the same answer.
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

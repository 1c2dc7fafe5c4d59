import type { GroupVersionKind, Resource } from './resource.ts';

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

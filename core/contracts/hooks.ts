import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';

/** One hook of a deployment. */
export interface HookRequest {
  readonly owner: BundleDeployment;
  readonly hook: KubernetesObject;
  /**
   * Name of one run of it: an object with this name is found again; any other belongs to an earlier
   * run.
   */
  readonly run: string;
  /** Name of the hook's Bundle. */
  readonly bundle?: string;
  readonly signal: AbortSignal;
}

/** A Job or Pod of a hook that has not ended. */
export interface RunningHook {
  /** `pre-upgrade hook Job/shop/migrate of Bundle "shop-1x"` */
  readonly hook: string;
  /** Start time, from its creationTimestamp. */
  readonly since: string;
  /** Why its pod is not ready, as a clause, if its status says. */
  readonly problem?: string | undefined;
}

/** A search for hooks that have not ended, whatever their run. */
export interface RunningHookRequest {
  readonly owner: BundleDeployment;
  /** Where to look, besides the install namespace and where this process has created hooks. */
  readonly namespaces: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** The progress of a hook; an event of its object wakes the owner while it runs. */
export type HookProgress =
  /** A hook of another run must end first: core never ends one to start another. */
  | { readonly state: 'behind'; readonly other: RunningHook }
  /** Start time, from its object's creationTimestamp; why its pod is not ready, if that is known. */
  | { readonly state: 'running'; readonly since: string; readonly problem?: string | undefined }
  /** An earlier object must be deleted first. */
  | { readonly state: 'replacing' }
  | { readonly state: 'succeeded' }
  /** The reason, as a clause. */
  | { readonly state: 'failed'; readonly reason: string };

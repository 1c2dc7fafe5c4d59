import type { KubernetesObject } from '../../../api/meta.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { unlessNotFound } from './api-error.ts';
import type { ObjectKey, Resource } from './resource.ts';

export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Return objects with only their metadata. */
  readonly metadataOnly?: boolean | undefined;
  /** Page size (default: the API server's own). */
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export interface ObjectList<T extends KubernetesObject = KubernetesObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** As for lists. */
  readonly metadataOnly?: boolean | undefined;
  /** Version to start from; empty for the present one. */
  readonly resourceVersion: string;
  /**
   * Start with an ADDED event for every object, and a bookmark with the annotation
   * `k8s.io/initial-events-end`.
   */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds: number;
  /** Called when the server has accepted the watch: events may be long in coming. */
  readonly onOpen?: () => void;
  readonly signal: AbortSignal;
}

export interface WatchEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** A metav1.Status where type is ERROR. */
  readonly object: T;
}

export interface PatchOptions {
  readonly type: 'merge' | 'json';
  readonly subresource?: 'status';
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface ApplyOptions {
  readonly fieldManager: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** Refuse with a conflict when the live object has another UID. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Run admission without deleting anything. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** Options of `request`. */
export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the leading slash, and with the query if any. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/**
 * Requests to one API server with one identity. Every call throws ApiError when the server refuses,
 * and other errors when it is unreachable; aborting the signal rejects with its reason.
 */
export interface KubeClient {
  get(resource: Resource, key: ObjectKey, signal?: AbortSignal): Promise<KubernetesObject>;
  list(resource: Resource, options?: ListOptions): Promise<ObjectList>;
  /** Ends without an error when the server closes the watch. */
  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent>;
  create(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject>;
  /** Replaces the object; refused with a conflict when its resourceVersion is not the live one. */
  update(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject>;
  patch(
    target: { readonly resource: Resource; readonly key: ObjectKey },
    patch: unknown,
    options: PatchOptions,
  ): Promise<KubernetesObject>;
  /** Server-side apply. */
  apply(
    resource: Resource,
    object: KubernetesObject,
    options: ApplyOptions,
  ): Promise<KubernetesObject>;
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** Any other request; JSON in, JSON out. */
  request(request: RawRequest): Promise<unknown>;
  /** The same connections with only the permissions of a ServiceAccount. */
  impersonate(account: ServiceAccountRef): KubeClient;
  /** The same identity for a creator: one whose requests hang leaves connections to others. */
  ofCreator(creator: string): KubeClient;
  /**
   * The same identity over two connections of its own, for requests that must not wait while slow
   * ones occupy all others.
   */
  reserved(): KubeClient;
}

/** An object, or undefined if there is none. */
export async function liveObject(
  client: Pick<KubeClient, 'get'>,
  { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
  signal?: AbortSignal,
): Promise<KubernetesObject | undefined> {
  return await unlessNotFound(client.get(resource, key, signal));
}

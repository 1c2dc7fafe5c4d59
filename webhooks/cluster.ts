import type { KubernetesObject } from '../api/meta.ts';

/** A kind as the API server serves it. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** One object's address; cluster-scoped objects have no namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** One object of the cluster. */
export interface ObjectRef {
  readonly resource: ResourceRef;
  readonly key: ObjectKey;
}

/**
 * The few requests that the webhooks send. A refused request throws an error whose `code` is the
 * HTTP status of the answer.
 */
export interface ObjectClient {
  get(resource: ResourceRef, key: ObjectKey, signal?: AbortSignal): Promise<KubernetesObject>;
  create(
    resource: ResourceRef,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject>;
  /** Refused with 409 where the object's resourceVersion is not the live one. */
  update(
    resource: ResourceRef,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject>;
  patch(
    target: ObjectRef,
    patch: unknown,
    options: { readonly type: 'json'; readonly signal?: AbortSignal },
  ): Promise<KubernetesObject>;
}

/** Follows one object by a watch, so that an idle cluster sees no other request. */
export interface ObjectFollower {
  /**
   * Calls `onChange` with the object as it is now (undefined: it does not exist) and again after
   * each change, in order. Resolves when the signal is aborted; survives lost connections.
   */
  follow(
    target: ObjectRef,
    onChange: (object: KubernetesObject | undefined) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Time in milliseconds. */
export interface Clock {
  now(): number;
  /** Rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Structured logging; secrets never go in. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Whether the API server refused a request with this HTTP status. */
export function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Clock } from '../../platform/clock.ts';
import { ApiError, type KubeClient } from '../../platform/kube/index.ts';
import type { ApplyMetrics } from '../../platform/observe/index.ts';
import { shortList } from '../../short-list.ts';
import { type FieldConflict, fieldConflicts } from '../fields/field-conflicts.ts';
import { fieldManager } from '../fields/managed-fields.ts';
import type { ObjectSchema, OpenAPIDocuments } from '../kinds/openapi-documents.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import { pruneToSchema } from './schema-prune.ts';

/**
 * The server serves an established CRD a moment later, and publishes its schema another moment
 * later.
 */
const missingKindRetries = 10;
const missingKindPause = 200;
const listedPaths = 20;

interface ServerSideApplyOptions {
  readonly documents: OpenAPIDocuments;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'requested'>;
}

/** One object to apply, with the client of its owner. */
export interface ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly owner: BundleDeployment;
  readonly desired: DesiredObject;
  /** Fail with a conflict when the object exists. */
  readonly createOnly: boolean;
  /** UID of the object that core has judged: fail if it was deleted or recreated since. */
  readonly uid?: string | undefined;
  /** Receives the fields that the apply takes from other field managers (default: core does not look for them). */
  readonly onConflict?: ((conflicts: readonly FieldConflict[]) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Sends single objects to the API server, which merges them with other managers' fields. */
export class ServerSideApply {
  readonly #options: ServerSideApplyOptions;

  constructor(options: ServerSideApplyOptions) {
    this.#options = options;
  }

  /**
   * Applies an object by force, and returns it as stored. Leaves out unknown fields and duplicate
   * list items, and records a Warning Event on the owner for them.
   * @throws ApiError when the server refuses; a conflict when a createOnly object exists.
   */
  async apply(request: ServerSideApplyRequest): Promise<KubernetesObject> {
    try {
      return await this.#sendPolitely(request, request.desired.object);
    } catch (error) {
      if (!isStrictness(error)) throw error;
      return await this.#applyPruned(request, error);
    }
  }

  async #applyPruned(
    request: ServerSideApplyRequest,
    refusal: ApiError,
  ): Promise<KubernetesObject> {
    const { events } = this.#options;
    const { owner, desired, signal } = request;
    const schema = await this.#schemaOf(desired, signal);
    if (schema === undefined) throw refusal;
    const { object, paths } = pruneToSchema(desired.object, schema);
    const applied = await this.#sendDeclared(request, object);
    if (paths.length === 0) return applied;
    events.event(owner, {
      type: 'Warning',
      reason: 'FieldsDropped',
      message: droppedMessage(desired, paths),
    });
    return applied;
  }

  /** Sends what the schema declares: the server knows a CRD that has changed a moment later. */
  async #sendDeclared(
    request: ServerSideApplyRequest,
    object: KubernetesObject,
  ): Promise<KubernetesObject> {
    const { clock } = this.#options;
    for (let retry = 0; ; retry += 1) {
      try {
        return await this.#sendPolitely(request, object);
      } catch (error) {
        if (!isStrictness(error) || retry === missingKindRetries) throw error;
        await clock.sleep(missingKindPause, request.signal);
      }
    }
  }

  async #schemaOf(
    { resource }: DesiredObject,
    signal: AbortSignal,
  ): Promise<ObjectSchema | undefined> {
    const { documents, clock } = this.#options;
    for (let retry = 0; ; retry += 1) {
      const schema = await documents.schemaOf(resource, signal);
      if (schema !== undefined || retry === missingKindRetries) return schema;
      await clock.sleep(missingKindPause, signal);
    }
  }

  /**
   * Only the refusal of an apply without force names the fields that it would take, and their
   * managers.
   */
  async #sendPolitely(
    request: ServerSideApplyRequest,
    object: KubernetesObject,
  ): Promise<KubernetesObject> {
    const { onConflict } = request;
    if (onConflict === undefined) return await this.#send(request, object, true);
    try {
      return await this.#send(request, object, false);
    } catch (error) {
      const conflicts = fieldConflicts(error);
      if (conflicts.length === 0) throw error;
      const stored = await this.#send(request, object, true);
      onConflict(conflicts);
      return stored;
    }
  }

  async #send(
    { client, desired: { resource }, createOnly, uid, signal }: ServerSideApplyRequest,
    object: KubernetesObject,
    force: boolean,
  ): Promise<KubernetesObject> {
    const { clock, metrics } = this.#options;
    const options = { fieldManager, force, signal };
    const sent = createOnly ? toBeCreated(object) : boundTo(uid, object);
    for (let retry = 0; ; retry += 1) {
      metrics?.requested();
      try {
        return await client.apply(resource, sent, options);
      } catch (error) {
        if (!isKindMissing(error) || retry === missingKindRetries) throw error;
        await clock.sleep(missingKindPause, signal);
      }
    }
  }
}

/**
 * The object with a resourceVersion that no object has, because etcd's first revision is that of
 * the empty store. The server creates a missing object with any version, and refuses to change an
 * existing one: so core need not read it first.
 */
function toBeCreated(object: KubernetesObject): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1' } };
}

function boundTo(uid: string | undefined, object: KubernetesObject): KubernetesObject {
  if (uid === undefined) return object;
  return { ...object, metadata: { ...object.metadata, uid } };
}

/**
 * Whether the API server refused an apply with a UID: with a conflict when the object is gone, as
 * invalid when another one has its name.
 */
export function isReplaced(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.code === 409) return error.message.includes('uid mismatch');
  const causes = error.status.details?.causes ?? [];
  return error.code === 422 && causes.some(({ field }) => field === 'metadata.uid');
}

function isStrictness(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    /field not declared in schema|duplicate entries for key/.test(error.message)
  );
}

function isKindMissing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.code === 404 &&
    /could not find the requested resource|page not found/.test(error.message)
  );
}

function droppedMessage({ resource, key }: DesiredObject, paths: readonly string[]): string {
  return (
    `${describeObject(resource.kind, key)} was applied without unknown fields and repeated list items: ` +
    shortList(paths, listedPaths)
  );
}

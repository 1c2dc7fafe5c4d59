import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { Clock } from '../clock.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { ApiError } from '../kube/api-error.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import type { ApplyMetrics } from '../observe/apply-metrics.ts';
import type { DesiredObject } from './desired.ts';
import { describeObject } from './object-id.ts';
import type { OpenAPIDocuments } from './openapi-documents.ts';
import { fieldManager } from './projection.ts';
import { type ObjectSchema, pruneToSchema } from './schema-prune.ts';

/** An established CRD is served a moment later, and its schema published another moment later. */
const missingKindRetries = 10;
const missingKindPause = 200;
const listedPaths = 20;

export interface ServerSideApplyOptions {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly documents: OpenAPIDocuments;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'requested'>;
}

/** Sends single objects to the API server, which merges them with what others wrote. */
export class ServerSideApply {
  readonly #options: ServerSideApplyOptions;

  constructor(options: ServerSideApplyOptions) {
    this.#options = options;
  }

  /**
   * Applies an object and takes over every field it sets; returns the object as stored. Unknown
   * fields and duplicate list items are left out, with a Warning event on the owner.
   * @throws ApiError where the server refuses.
   */
  async apply(
    owner: BundleDeployment,
    desired: DesiredObject,
    signal: AbortSignal,
  ): Promise<KubernetesObject> {
    try {
      return await this.#send(desired, desired.object, signal);
    } catch (error) {
      if (!isStrictness(error)) throw error;
      return await this.#applyPruned({ owner, desired, signal }, error);
    }
  }

  async #applyPruned(
    { owner, desired, signal }: PrunedApply,
    refusal: ApiError,
  ): Promise<KubernetesObject> {
    const { events } = this.#options;
    const schema = await this.#schemaOf(desired, signal);
    if (schema === undefined) throw refusal;
    const { object, paths } = pruneToSchema(desired.object, schema);
    if (paths.length === 0) throw refusal;
    const applied = await this.#send(desired, object, signal);
    events.event(owner, {
      type: 'Warning',
      reason: 'FieldsDropped',
      message: droppedMessage(desired, paths),
    });
    return applied;
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

  async #send(
    { resource }: DesiredObject,
    object: KubernetesObject,
    signal: AbortSignal,
  ): Promise<KubernetesObject> {
    const { client, clock, metrics } = this.#options;
    const options = { fieldManager, force: true, signal };
    for (let retry = 0; ; retry += 1) {
      metrics?.requested();
      try {
        return await client.apply(resource, object, options);
      } catch (error) {
        if (!isKindMissing(error) || retry === missingKindRetries) throw error;
        await clock.sleep(missingKindPause, signal);
      }
    }
  }
}

interface PrunedApply {
  readonly owner: BundleDeployment;
  readonly desired: DesiredObject;
  readonly signal: AbortSignal;
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
  const more = paths.length - listedPaths;
  const listed = paths.slice(0, listedPaths).join(', ');
  return (
    `${describeObject(resource.kind, key)} was applied without unknown fields and repeated list items: ` +
    `${listed}${more > 0 ? ` and ${more} more` : ''}`
  );
}

import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { DesiredObject } from '../../../core/apply/desired.ts';
import type { DesiredSet } from '../../../core/apply/desired-set.ts';
import { describeObject, objectPath } from '../../../core/apply/object-id.ts';
import { OpenAPIDocuments } from '../../../core/apply/openapi-documents.ts';
import { ownershipOf } from '../../../core/apply/ownership.ts';
import { ServerSideApply } from '../../../core/apply/server-side-apply.ts';
import { systemClock } from '../../../core/clock.ts';
import { errorMessage } from '../../../core/errors.ts';
import { isNotFound } from '../../../core/kube/api-error.ts';
import type { KubeClient } from '../../../core/kube/kube-client.ts';
import { liveObject } from '../live-object.ts';
import type { ObjectStates } from './shown-object.ts';

export interface ForecastOptions {
  readonly client: KubeClient;
  readonly owner: BundleDeployment;
  readonly set: DesiredSet;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

interface Foreseen extends ObjectStates {
  readonly desired: DesiredObject;
}

/** What becomes of single objects when the core applies them, by dry runs of what it would send. */
export class ObjectForecast {
  readonly warnings: string[] = [];
  readonly #options: ForecastOptions;
  readonly #apply: ServerSideApply;

  constructor(options: ForecastOptions) {
    const { client } = options;
    this.#options = options;
    this.#apply = new ServerSideApply({
      client: {
        apply: (resource, object, options) =>
          client.apply(resource, object, { ...options, dryRun: true }),
      },
      documents: new OpenAPIDocuments(client),
      events: {
        // The only event of an apply: fields that the API server does not know.
        event: (_owner, { message }) => {
          this.warnings.push(message.replace('was applied', 'would be applied'));
        },
      },
      clock: systemClock,
    });
  }

  /** The object before and after, or why that cannot be. Never rejects. */
  async of(desired: DesiredObject): Promise<Foreseen | { readonly problem: string }> {
    try {
      return await this.#of(desired);
    } catch (error) {
      const { resource, key } = desired;
      return { problem: `${describeObject(resource.kind, key)}: ${errorMessage(error)}` };
    }
  }

  async #of(desired: DesiredObject): Promise<Foreseen | { readonly problem: string }> {
    const { owner, set, systemNamespace } = this.#options;
    const live = await this.#live(desired);
    if (live === undefined) return { desired, before: undefined, after: await this.#new(desired) };
    const ownership = ownershipOf(live, owner, systemNamespace);
    if (ownership.verdict === 'refused') return foreign(desired, owner, ownership.because);
    // Of a version that comes with the upgrade nobody can say how the object will read.
    if (!set.isServed(desired)) return { desired, before: live, after: desired.object };
    const dropped = ownership.verdict === 'adopt' && ownership.dropControllers;
    const after = dropped
      ? await this.#adopted(desired, live)
      : await this.#apply.apply(owner, desired, this.#options.signal);
    return { desired, before: live, after };
  }

  async #live(desired: DesiredObject): Promise<KubernetesObject | undefined> {
    const { client, set, signal } = this.#options;
    const resource = set.presentAs(desired);
    if (resource === undefined) return undefined;
    return await liveObject(client, { resource, key: desired.key }, signal);
  }

  /** What does not exist is asked about only where its kind and its namespace already do. */
  async #new(desired: DesiredObject): Promise<KubernetesObject> {
    const { set, owner, signal } = this.#options;
    if (!set.isServed(desired)) return desired.object;
    try {
      return await this.#apply.apply(owner, desired, signal);
    } catch (error) {
      if (isNotFound(error) && set.ids.has(`|Namespace||${desired.key.namespace}`)) {
        return desired.object;
      }
      throw error;
    }
  }

  /** The core removes the former controller in a request of its own, which a dry run cannot see. */
  async #adopted(desired: DesiredObject, live: KubernetesObject): Promise<KubernetesObject> {
    const { owner, signal } = this.#options;
    const { ownerReferences: own = [], ...metadata } = desired.object.metadata;
    const object = { ...desired.object, metadata };
    const after = await this.#apply.apply(owner, { ...desired, object }, signal);
    const kept = (live.metadata.ownerReferences ?? []).filter(({ controller }) => !controller);
    return { ...after, metadata: { ...after.metadata, ownerReferences: [...kept, ...own] } };
  }
}

function foreign(
  { resource, key }: DesiredObject,
  owner: BundleDeployment,
  because: string,
): { readonly problem: string } {
  const what = describeObject(resource.kind, key);
  return {
    problem:
      `${what} exists and ${because}, so the upgrade would be refused: delete or rename it, or ` +
      `kubectl annotate bundledeployment ${owner.metadata.name} ${annotation.adopt}=${objectPath(resource.kind, key)}`,
  };
}

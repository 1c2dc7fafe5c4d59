import { fieldAt, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { isNotFound, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import type { ApplyMetrics } from '../../platform/observe/index.ts';
import { fieldTree, withoutFields } from '../fields/field-tree.ts';
import { OpenAPIDocuments } from '../kinds/openapi-documents.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { isTransient } from '../objects/failures.ts';
import { describeObject, objectPath } from '../objects/object-id.ts';
import { consentedOwnership, type DeploymentConsent } from '../ownership/consent.ts';
import { adoptCommand } from '../ownership/ownership-message.ts';
import type { DesiredSet } from '../plan/desired-set.ts';
import { replacedLists } from '../write/apply-object.ts';
import { withLeftFields } from '../write/left-fields.ts';
import { ServerSideApply } from '../write/server-side-apply.ts';

/** Two states of one object; undefined when it does not exist. */
export interface ObjectStates {
  readonly before: KubernetesObject | undefined;
  readonly after: KubernetesObject | undefined;
}

export interface ObjectForecastOptions {
  /** Client with the permissions of the deployment that would apply. */
  readonly client: KubeClient;
  readonly owner: BundleDeployment;
  readonly set: DesiredSet;
  readonly systemNamespace: string;
  /** Consent of the deployments that have objects which the owner wants. */
  readonly consent: DeploymentConsent;
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'requested'> | undefined;
  readonly signal: AbortSignal;
}

/** Forecasts by dry runs what an apply would make of single objects. */
export class ObjectForecast {
  /** Warnings about fields that an apply would leave out. */
  readonly warnings: string[] = [];
  readonly #options: ObjectForecastOptions;
  readonly #apply: ServerSideApply;
  readonly #client: Pick<KubeClient, 'apply'>;

  constructor(options: ObjectForecastOptions) {
    const { client, clock, metrics } = options;
    this.#options = options;
    this.#client = {
      apply: (resource, object, options) =>
        client.apply(resource, object, { ...options, dryRun: true }),
    };
    this.#apply = new ServerSideApply({
      documents: new OpenAPIDocuments(client),
      events: {
        // The only Event of an apply: fields that the API server does not know.
        event: (_owner, { message }) => {
          this.warnings.push(message.replace('was applied', 'would be applied'));
        },
      },
      clock,
      ...(metrics === undefined ? {} : { metrics }),
    });
  }

  /**
   * The object before and after an apply, or the reason why it cannot be applied.
   * @throws Error when the API server cannot answer now.
   */
  async of(desired: DesiredObject): Promise<ObjectStates | { readonly problem: string }> {
    try {
      return await this.#of(desired);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      const { resource, key } = desired;
      const problem = `${describeObject(resource.kind, key)}: ${errorMessage(error)}`;
      if (isTransient(error)) throw new Error(problem, { cause: error });
      return { problem };
    }
  }

  async #of(desired: DesiredObject): Promise<ObjectStates | { readonly problem: string }> {
    const { owner, set, systemNamespace, consent } = this.#options;
    const before = await this.#live(desired);
    if (before === undefined) return { before, after: await this.#new(desired) };
    const subject = { owner, id: desired.id, live: before };
    const ownership = await consentedOwnership(subject, systemNamespace, consent);
    if (ownership.verdict === 'refused') return foreign(desired, owner, ownership.because);
    if (ownership.verdict === 'transferred' || ownership.verdict === 'used')
      return { before, after: before };
    // The upgrade itself brings this version, so the server cannot dry-run it yet.
    if (!set.isServed(desired)) return { before, after: desired.object };
    const dropped = ownership.verdict === 'adopt' && ownership.dropControllers;
    const after = dropped
      ? await this.#adopted(desired, before)
      : await this.#changed(desired, before);
    return { before, after };
  }

  /** Core replaces lists that people made invalid by adding items: see `applyReplacing`. */
  async #changed(desired: DesiredObject, live: KubernetesObject): Promise<KubernetesObject> {
    const { client, signal } = this.#options;
    try {
      return await this.#send(desired, live);
    } catch (refusal) {
      const lists = await replacedLists(client, { desired, live, refusal, signal });
      if (lists === undefined) throw refusal;
      const { paths } = lists;
      const pointers = paths.map((path) => `/${path.join('/')}`);
      const rest = withoutFields(desired.object, fieldTree(pointers, desired.object));
      const after = await this.#send({ ...desired, object: rest as KubernetesObject }, live);
      return paths.reduce(
        (object, path) => withField(object, path, fieldAt(lists.object, ...path)),
        after,
      );
    }
  }

  async #live(desired: DesiredObject): Promise<KubernetesObject | undefined> {
    const { client, set, signal } = this.#options;
    const resource = set.presentAs(desired);
    if (resource === undefined) return undefined;
    return await liveObject(client, { resource, key: desired.key }, signal);
  }

  /** A dry run of a new object is possible only when its kind and its namespace exist. */
  async #new(desired: DesiredObject): Promise<KubernetesObject> {
    const { set } = this.#options;
    if (!set.isServed(desired)) return desired.object;
    try {
      return await this.#send(desired, undefined);
    } catch (error) {
      if (isNotFound(error) && set.ids.has(`|Namespace||${desired.key.namespace}`)) {
        return desired.object;
      }
      throw error;
    }
  }

  async #send(
    desired: DesiredObject,
    live: KubernetesObject | undefined,
  ): Promise<KubernetesObject> {
    const { owner, signal } = this.#options;
    const sent = { ...desired, object: contentToSend(desired, live) };
    const request = { client: this.#client, owner, desired: sent, createOnly: false, signal };
    return await this.#apply.apply(request);
  }

  /** Core removes the former controller in a separate request, which a dry run cannot include. */
  async #adopted(desired: DesiredObject, live: KubernetesObject): Promise<KubernetesObject> {
    const { ownerReferences: own = [], ...metadata } = desired.object.metadata;
    const object = { ...desired.object, metadata };
    const after = await this.#send({ ...desired, object }, live);
    const kept = (live.metadata.ownerReferences ?? []).filter(({ controller }) => !controller);
    return { ...after, metadata: { ...after.metadata, ownerReferences: [...kept, ...own] } };
  }
}

function withField<T extends object>(object: T, path: readonly string[], value: unknown): T {
  const [key = '', ...rest] = path;
  const below = rest.length === 0 ? value : withField(mapOf(fieldAt(object, key)), rest, value);
  return { ...object, [key]: below };
}

/** The object as core sends it: without the ignored fields. */
function contentToSend(
  { object, ignored }: DesiredObject,
  live: KubernetesObject | undefined,
): KubernetesObject {
  if (ignored === undefined || live === undefined) return object;
  return withLeftFields(object, live, ignored.tree);
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
      adoptCommand(owner, [objectPath(resource.kind, key)]),
  };
}

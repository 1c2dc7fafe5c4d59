import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import {
  type Clock,
  type IndexedCache,
  type KubeClient,
  type ReconcileContext,
  type ReconcileResult,
  type Semaphore,
  statusPatch,
  unlessGone,
} from '../../core/controller.ts';
import type { DependencyGate } from './dependencies/dependency-gate.ts';
import { type Installation, installationOf } from './deployment/installation.ts';
import { observedRollout } from './deployment/observed-rollout.ts';
import { place } from './deployment/place.ts';
import type { Extension, ExtensionKind } from './extension.ts';
import type { Choice, ChoiceRequest, Chooser, Findings } from './findings.ts';
import { type EventSink, recordNews } from './status/news.ts';

export interface ExtensionReconcilerOptions {
  readonly kind: ExtensionKind;
  readonly client: Pick<KubeClient, 'apply' | 'get' | 'patch'>;
  readonly objects: Pick<IndexedCache, 'get' | 'upsertIfNewer'>;
  readonly deployments: Pick<IndexedCache<BundleDeployment>, 'get' | 'upsertIfNewer'>;
  readonly choices: Chooser;
  /** Installs what bundles require; undefined if nothing does. */
  readonly dependencies?: DependencyGate | undefined;
  /** Limits the objects that are written at the same time. */
  readonly places: Semaphore;
  readonly events: EventSink;
  readonly clock: Clock;
}

/**
 * Keeps the BundleDeployment of one Operator or ClusterExtension as the catalogs and its spec want it,
 * and reports what becomes of it. Each object is on its own: no other one can make it fail.
 */
export class ExtensionReconciler {
  readonly #options: ExtensionReconcilerOptions;

  constructor(options: ExtensionReconcilerOptions) {
    this.#options = options;
  }

  /** A rejection requests a retry with back-off. */
  async reconcile(
    name: string,
    { signal, stopping }: Pick<ReconcileContext, 'signal' | 'stopping'>,
  ): Promise<ReconcileResult> {
    const { kind, objects, choices, dependencies } = this.#options;
    const object = objects.get({ name });
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      choices.forget(`${kind.resource.kind}/${name}`);
      dependencies?.forget(`${kind.resource.kind}/${name}`);
      return {};
    }
    const extension = kind.read(object);
    const installation = this.#installation(extension);
    const choice = await this.#choose({ extension, installation }, stopping);
    // A resolution may take a while: what has changed meanwhile has requested another one.
    if (isOther(object, objects.get({ name }))) return {};
    if (imageOf(installation) !== imageOf(this.#installation(extension))) return {};
    await this.#options.places.run(() => this.#install(extension, choice, signal), stopping);
    const requeueAfter = choices.retryAfter(extension.id);
    return requeueAfter === undefined ? {} : { requeueAfter };
  }

  async #choose(asked: ChoiceRequest, stopping: AbortSignal): Promise<Choice> {
    const { choices, dependencies } = this.#options;
    try {
      return await choices.choose(asked, stopping);
    } catch (error) {
      // Others do not wait for it.
      dependencies?.admit(asked.extension, undefined, asked.installation);
      throw error;
    }
  }

  async #install(extension: Extension, choice: Choice, signal: AbortSignal): Promise<void> {
    const installation = this.#installation(extension);
    const admission = this.#options.dependencies?.admit(extension, choice, installation);
    if (admission?.state === 'judging') return;
    const wanted = admission?.state === 'held' ? held : choice;
    const isCurrent = async () => await this.#isCurrent(extension, signal);
    const request = { extension, installation, choice: wanted, isCurrent, signal };
    const { deployment, refusal, error, isOutdated } = await place(request, this.#options.client);
    if (isOutdated === true) return;
    if (deployment !== undefined) this.#options.deployments.upsertIfNewer(deployment);
    await this.#report({ extension, choice, refusal, admission }, signal);
    if (error !== undefined) throw error;
  }

  /** Asks the API server; an answer that is newer requests another reconcile. */
  async #isCurrent({ object, name }: Extension, signal: AbortSignal): Promise<boolean> {
    const { kind, client, objects } = this.#options;
    const live = await unlessGone(client.get(kind.resource, { name }, signal));
    if (live !== undefined) objects.upsertIfNewer(live);
    return !isOther(object, live);
  }

  #installation(extension: Extension): Installation {
    return installationOf(extension, this.#options.deployments.get({ name: extension.name }));
  }

  async #report(
    { extension, ...found }: Pick<Findings, 'extension' | 'choice' | 'refusal' | 'admission'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { kind, client, clock, objects, events } = this.#options;
    const { object, name } = extension;
    const installation = this.#installation(extension);
    const findings: Findings = {
      extension,
      ...found,
      installation,
      rollout: observedRollout(installation),
      conditions: conditionsOf(object),
      clock,
    };
    const patch = statusPatch(object, kind.status(findings));
    if (patch === undefined) return;
    const target = { resource: kind.resource, key: { name } };
    const options = { type: 'json', subresource: 'status', signal } as const;
    const after = await unlessGone(client.patch(target, patch, options));
    if (after === undefined) return;
    objects.upsertIfNewer(after);
    const { choice, conditions: before } = findings;
    const waiting = choice.kind === 'pending' ? choice.message : undefined;
    recordNews(events, after, { before, after: conditionsOf(after), waiting });
  }
}

/** The bundle of before stays. */
const held: Choice = { kind: 'pending', message: '' };

/** Of the installed bundle. */
function imageOf({ installed }: Installation): string | undefined {
  return installed?.image;
}

/** Whether an object is no longer what it was. */
function isOther({ metadata }: KubernetesObject, now: KubernetesObject | undefined): boolean {
  const { uid, generation, deletionTimestamp } = now?.metadata ?? {};
  return (
    uid !== metadata.uid || generation !== metadata.generation || deletionTimestamp !== undefined
  );
}

function conditionsOf(object: KubernetesObject): readonly Condition[] {
  const { conditions } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  return conditions ?? [];
}

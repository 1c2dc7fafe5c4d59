import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import {
  errorMessage,
  type IndexedCache,
  isConflict,
  isForbidden,
  isNotFound,
  type KubeClient,
} from '../../../core/controller.ts';
import { shortList } from '../../../core/short-list.ts';
import type { EventSink } from '../status/news.ts';
import {
  dependencyManager,
  isAsWanted,
  isMade,
  isMarked,
  madeOperator,
  ownersOf,
  releasePatch,
  type WantedOperator,
} from './made-operator.ts';

export interface OperatorWriterOptions {
  readonly client: Pick<KubeClient, 'apply' | 'patch' | 'delete'>;
  readonly operators: Pick<IndexedCache, 'get' | 'list' | 'upsertIfNewer'>;
  readonly extensions: Pick<IndexedCache, 'list'>;
  readonly events: EventSink;
}

/** Creates, updates, deletes and releases the Operators that are made for others. */
export class OperatorWriter {
  readonly #options: OperatorWriterOptions;
  /** Why an Operator was not created or updated, by its name. */
  readonly #failures = new Map<string, string>();
  /** UID, and why it was not deleted as its Event says, by the name of an Operator. */
  readonly #undeleted = new Map<string, string>();

  constructor(options: OperatorWriterOptions) {
    this.#options = options;
  }

  /** Why the last attempt to create or update an Operator failed. */
  failure(name: string): string | undefined {
    return this.#failures.get(name);
  }

  /**
   * Whether it is as wanted now; false if it has changed since it was read. Rejects if the API server
   * refuses it for another reason.
   */
  async make(wanted: WantedOperator, signal: AbortSignal): Promise<boolean> {
    const { client, operators } = this.#options;
    const { packageName: name } = wanted;
    const live = operators.get({ name });
    if (live !== undefined && isAsWanted(live, wanted)) {
      this.#failures.delete(name);
      return true;
    }
    const object = madeOperator(wanted, live);
    const resourceVersion = live?.metadata.resourceVersion;
    const metadata = {
      ...object.metadata,
      // Whatever a user has changed since is seen first.
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      const options = { fieldManager: dependencyManager, force: live !== undefined, signal };
      const applied = await client.apply(operatorResource, { ...object, metadata }, options);
      operators.upsertIfNewer(applied);
      this.#failures.delete(name);
    } catch (error) {
      if (isConflict(error)) return false;
      this.#failures.set(name, refusalOf(name, live ? 'updated' : 'created', error));
      throw error;
    }
    if (live === undefined) this.#reportCreation(wanted);
    return true;
  }

  /** Rejects if the API server refuses it for another reason than a change since it was read. */
  async remove(object: KubernetesObject, signal: AbortSignal): Promise<void> {
    const { client, events, operators, extensions } = this.#options;
    const { name = '', uid = '', resourceVersion = '' } = object.metadata;
    const options = { uid, resourceVersion, propagationPolicy: 'Background', signal } as const;
    try {
      await client.delete(operatorResource, { name }, options);
      this.#undeleted.delete(name);
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return;
      this.#reportUndeleted(object, error);
      throw error;
    }
    const message = `Deleted Operator ${goQuote(name)}: nothing that is installed requires it any more`;
    const all = [...operators.list(), ...extensions.list()];
    for (const { uid: owner } of ownersOf(object)) {
      const found = all.find(({ metadata }) => metadata.uid === owner);
      if (found === undefined) continue;
      events.event(found, { type: 'Normal', reason: 'DependencyDeleted', message });
    }
  }

  /**
   * Operators that users have taken over lose what is left of the marks. Returns the errors: one that
   * the API server refuses concerns no other.
   */
  async release(signal: AbortSignal): Promise<readonly unknown[]> {
    const { client, operators, events } = this.#options;
    const errors: unknown[] = [];
    for (const object of operators.list()) {
      const { name = '', deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined || !isMarked(object) || isMade(object)) continue;
      const target = { resource: operatorResource, key: { name } };
      try {
        const after = await client.patch(target, releasePatch(object), { type: 'json', signal });
        operators.upsertIfNewer(after);
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) errors.push(error);
        continue;
      }
      const message =
        'A user has taken over this Operator: it stays when nothing requires it any more';
      events.event(object, { type: 'Normal', reason: 'DependencyReleased', message });
    }
    return errors;
  }

  #reportCreation({ packageName, version, claims, owners }: WantedOperator): void {
    const requirers = shortList(
      claims.map(({ operator }) => goQuote(operator)),
      5,
    );
    const message = `Created Operator ${goQuote(packageName)} with version ${version}: required by ${requirers}`;
    for (const owner of owners) {
      this.#options.events.event(owner, { type: 'Normal', reason: 'DependencyCreated', message });
    }
  }

  /** Once for each cause: retries say nothing new. */
  #reportUndeleted(object: KubernetesObject, error: unknown): void {
    const { name = '', uid = '' } = object.metadata;
    const refusal = refusalOf(name, 'deleted', error);
    const message = `Nothing that is installed requires this Operator any more. ${refusal}`;
    const news = `${uid} ${message}`;
    if (this.#undeleted.get(name) === news) return;
    this.#undeleted.set(name, news);
    const { events } = this.#options;
    events.event(object, { type: 'Warning', reason: 'DependencyNotDeleted', message });
  }
}

/** The API server's sentence about a permission; webhooks and quotas forbid with other words. */
const missingPermission = /User ("[^"]*") cannot (\w+) resource "operators"/;
const grant =
  'Component install-dependencies of deploy/ grants it (of the chart: operators.installDependencies=true)';

function refusalOf(
  name: string,
  action: 'created' | 'updated' | 'deleted',
  error: unknown,
): string {
  const text = errorMessage(error);
  const refusal = `Operator ${goQuote(name)} was not ${action}`;
  const [found, user, verb] = (isForbidden(error) && missingPermission.exec(text)) || [];
  if (found === undefined) return `${refusal}: ${text}`;
  return `${refusal}: user ${user} lacks permission to ${verb} operators.operators.operatorframework.io. ${grant}.`;
}

import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type Clock,
  type EventSink,
  type IndexedCache,
  type KubeClient,
  keyOf,
  removeFinalizer,
  statusPatch,
  unlessGone,
} from '../../../core/controller.ts';
import type { CatalogKindAdapter, CatalogOutcome } from '../kinds/catalog-kind.ts';

export interface WriterOptions {
  readonly client: KubeClient;
  readonly adapter: CatalogKindAdapter;
  readonly cache: IndexedCache;
  readonly events: EventSink;
  /** Base URL of the content server, without a slash at the end. */
  readonly address: string;
  /** Whether this process writes statuses and polls; the others follow the statuses. */
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/**
 * The leader's writes to objects of one kind of catalogs. A process that leads no more, in the
 * middle of a reconcile, writes nothing: another one may lead by then.
 */
export class CatalogWriter {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** The object with the finalizer and labels of its kind. */
  async claim(object: KubernetesObject): Promise<KubernetesObject> {
    const { adapter, client, cache, isLeading } = this.#options;
    const { uid, resourceVersion, name = '', labels = {}, finalizers = [] } = object.metadata;
    const wanted = adapter.labelsOf(name);
    const hasLabels = Object.entries(wanted).every(([label, value]) => labels[label] === value);
    const isMarked = finalizers.includes(adapter.finalizer);
    if ((hasLabels && isMarked) || !isLeading()) return object;
    const marks = isMarked ? finalizers : [...finalizers, adapter.finalizer];
    const metadata = { uid, resourceVersion, labels: wanted, finalizers: marks };
    const target = { resource: adapter.resource, key: keyOf(object) };
    const written = await client.patch(target, { metadata }, { type: 'merge' });
    cache.upsertIfNewer(written);
    return written;
  }

  /** The object with the URL of its content at this server, which a restart may have moved. */
  async relocate(object: KubernetesObject): Promise<KubernetesObject> {
    const { adapter, address } = this.#options;
    const status = adapter.relocated(object, address);
    return (status && (await this.#patch(object, status))) ?? object;
  }

  /**
   * Notes the object as the API server has it now.
   * @throws the reason of the signal, which a change of the object aborts
   */
  async renew(object: KubernetesObject, signal: AbortSignal): Promise<void> {
    const { adapter, client, cache } = this.#options;
    const live = await unlessGone(client.get(adapter.resource, keyOf(object), signal));
    if (live !== undefined) cache.upsertIfNewer(live);
    signal.throwIfAborted();
  }

  /** Lets a deletion go on. */
  async release(object: KubernetesObject, signal: AbortSignal): Promise<void> {
    const { adapter, client, cache, isLeading } = this.#options;
    if (!isLeading()) return;
    const target = { client, resource: adapter.resource, signal };
    const written = await removeFinalizer(target, object, adapter.finalizer);
    if (written !== undefined) cache.upsertIfNewer(written);
  }

  /** Writes the status of an outcome if it differs, with an Event for news. */
  async write(object: KubernetesObject, outcome: CatalogOutcome): Promise<void> {
    const { adapter, address, clock } = this.#options;
    const written = await this.#patch(object, adapter.status(object, outcome, { address, clock }));
    if (written !== undefined) this.#announce(object, written, outcome);
  }

  /** Undefined if the object has this status, or this process leads no more. */
  async #patch(object: KubernetesObject, status: object): Promise<KubernetesObject | undefined> {
    const { adapter, client, cache, isLeading } = this.#options;
    const patch = statusPatch(object, status);
    if (patch === undefined || !isLeading()) return undefined;
    const target = { resource: adapter.resource, key: keyOf(object) };
    const written = await client.patch(target, patch, { type: 'json', subresource: 'status' });
    cache.upsertIfNewer(written);
    return written;
  }

  #announce(before: KubernetesObject, now: KubernetesObject, outcome: CatalogOutcome): void {
    const { adapter, events } = this.#options;
    const former = adapter.read(before).remembered;
    const { resolvedRef, problem } = adapter.read(now).remembered;
    if (outcome.kind === 'unpacked' && resolvedRef !== former.resolvedRef) {
      const message = `Serving the content of ${outcome.served.resolvedRef}.`;
      events.event(now, { type: 'Normal', reason: 'Unpacked', message });
    }
    if (outcome.kind === 'failed' && problem !== former.problem) {
      const served = outcome.served && ` Still serving ${outcome.served.resolvedRef}.`;
      const message = `${adapter.textOf(outcome.failure)}.${served ?? ''}`;
      events.event(now, { type: 'Warning', reason: 'UnpackFailed', message });
    }
  }
}

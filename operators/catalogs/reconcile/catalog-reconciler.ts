import type { KubernetesObject } from '../../../api/meta.ts';
import {
  errorMessage,
  type ReconcileContext,
  type ReconcileResult,
} from '../../../core/controller.ts';
import type { CatalogKey } from '../content/content-store.ts';
import { namedContent } from '../kinds/named-content.ts';
import { CatalogLeader, type LeaderParts } from './catalog-leader.ts';
import { type CatalogWork, type ContentParts, hasImage, LocalContent } from './local-content.ts';

interface ReconcilerOptions extends LeaderParts, ContentParts {}

export interface CatalogParts extends Omit<ReconcilerOptions, 'adapter' | 'cache'> {}

interface Running {
  readonly generation: number | undefined;
  readonly isDeletion: boolean;
  readonly abort: AbortController;
}

/** Brings the content of catalogs of one kind to this replica, and writes statuses as the leader. */
export class CatalogReconciler {
  readonly #options: ReconcilerOptions;
  readonly #content: LocalContent;
  readonly #leader: CatalogLeader;
  readonly #running = new Map<string, Running>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#content = new LocalContent(options);
    this.#leader = new CatalogLeader(options, this.#content);
  }

  /**
   * Call this at each change of an object. Aborts the work on a former generation, or for an object
   * that is being deleted. What the status names counts at once: a new leader must not resolve from
   * other content meanwhile.
   */
  changed(object: KubernetesObject): void {
    const { adapter, served } = this.#options;
    const { generation, name = '' } = object.metadata;
    served.expect({ kind: adapter.kind, name }, namedContent(adapter.read(object)));
    const running = this.#running.get(name);
    if (running === undefined) return;
    if (running.isDeletion === isDeletion(object) && running.generation === generation) return;
    running.abort.abort(new Error('the catalog has changed'));
  }

  /** Reconciles the object of this name. */
  async reconcile(
    name: string,
    { signal, stopping }: Pick<ReconcileContext, 'signal' | 'stopping'>,
  ): Promise<ReconcileResult> {
    const { cache, adapter } = this.#options;
    const object = cache.get({ name });
    const key = { kind: adapter.kind, name };
    if (object === undefined) return await this.#forget(key);
    const { generation } = object.metadata;
    const abort = new AbortController();
    this.#running.set(name, { generation, isDeletion: isDeletion(object), abort });
    const all = AbortSignal.any([signal, stopping, abort.signal]);
    try {
      return await this.#work({ key, object, request: adapter.read(object), signal: all });
    } catch (error) {
      // The queue has the changed object again.
      if (abort.signal.aborted && !signal.aborted) return {};
      throw error;
    } finally {
      this.#running.delete(name);
    }
  }

  async #work(work: CatalogWork): Promise<ReconcileResult> {
    const { key, object, request } = work;
    const { served, isLeading } = this.#options;
    if (isDeletion(object)) return await this.#finalize(work);
    this.#content.note(work);
    if (!request.isAvailable) return await this.#switchOff(work);
    served.switchOn(key);
    await this.#content.restore(work);
    const result = isLeading() ? await this.#leader.bring(work) : await this.#follow(work);
    await this.#content.mend(work);
    return result;
  }

  /** Serves what the leader has written into the status. */
  async #follow(work: CatalogWork): Promise<ReconcileResult> {
    const { key, request } = work;
    this.#leader.resign(key.name);
    const named = namedContent(request);
    const isCurrent = this.#content.stateOf(work)?.resolvedRef === named;
    if (named !== undefined && !isCurrent && hasImage(work)) {
      await this.#content.serve(work, await this.#content.download(work, named));
    }
    this.#options.served.report(key, request.remembered.problem);
    return {};
  }

  /** Keeps the stored content, for when the catalog is available again. */
  async #switchOff(work: CatalogWork): Promise<ReconcileResult> {
    const { served, isLeading } = this.#options;
    await served.switchOff(work.key, 'Catalog availability mode is set to Unavailable');
    if (isLeading()) await this.#leader.switchedOff(work);
    return {};
  }

  async #finalize(work: CatalogWork): Promise<ReconcileResult> {
    const { isLeading } = this.#options;
    try {
      await this.#forget(work.key);
    } catch (error) {
      if (isLeading()) await this.#leader.notDeleted(work, errorMessage(error));
      throw error;
    }
    if (isLeading()) await this.#leader.deleted(work);
    return {};
  }

  async #forget(key: CatalogKey): Promise<ReconcileResult> {
    this.#leader.forget(key.name);
    await this.#content.forget(key);
    return {};
  }
}

function isDeletion({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

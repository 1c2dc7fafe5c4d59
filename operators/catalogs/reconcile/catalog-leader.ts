import { errorMessage, type ReconcileResult } from '../../../core/controller.ts';
import type { StoredContent, StoredState } from '../content/content-store.ts';
import { namedContent } from '../kinds/named-content.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogImages } from '../source/catalog-image.ts';
import { CatalogWriter, type WriterOptions } from './catalog-writer.ts';
import {
  type CatalogWork,
  type ContentParts,
  hasImage,
  type ImageWork,
  type LocalContent,
} from './local-content.ts';
import { RefreshSchedule } from './refresh-schedule.ts';

export interface LeaderParts extends Pick<ContentParts, 'served'>, WriterOptions {
  readonly images: Pick<CatalogImages, 'resolve'>;
}

/** Content that the status names, and whether the tag decides what follows. */
interface Named {
  readonly named: string;
  readonly isDue: boolean;
}

/** Resolves tags for catalogs of one kind, and writes their statuses. */
export class CatalogLeader {
  readonly #parts: LeaderParts;
  readonly #content: LocalContent;
  readonly #schedule: RefreshSchedule;
  readonly #writer: CatalogWriter;
  /** By name, the content that this process has put into the status, or found there. */
  readonly #settled = new Map<string, string>();

  constructor(parts: LeaderParts, content: LocalContent) {
    this.#parts = parts;
    this.#content = content;
    this.#schedule = new RefreshSchedule(parts.clock);
    this.#writer = new CatalogWriter(parts);
  }

  /** Serves the content that the spec asks for, when it is due. */
  async bring(work: CatalogWork): Promise<ReconcileResult> {
    const { adapter, served } = this.#parts;
    const { key, request, object: before } = work;
    const object = await this.#writer.relocate(await this.#writer.claim(before));
    const current = { ...work, object };
    const { image } = request;
    if (image instanceof CatalogFailure) return await this.#fail(current, image);
    const wait = this.#schedule.untilRetry(key.name, object.metadata.generation) ?? 0;
    if (wait > 0) {
      served.report(key, adapter.read(object).remembered.problem);
      return after(wait);
    }
    return await this.#attempt({ ...current, request: { ...request, image } });
  }

  async switchedOff({ object }: CatalogWork): Promise<void> {
    await this.#writer.write(await this.#writer.claim(object), { kind: 'unavailable' });
  }

  async deleted({ object, signal }: CatalogWork): Promise<void> {
    await this.#writer.release(object, signal);
  }

  async notDeleted({ object }: CatalogWork, message: string): Promise<void> {
    await this.#writer.write(object, { kind: 'deletion failed', message });
  }

  /** Another process leads, and may write other content into the status. */
  resign(name: string): void {
    this.#settled.delete(name);
  }

  /** The object is gone. */
  forget(name: string): void {
    this.resign(name);
    this.#schedule.succeeded(name);
  }

  async #attempt(work: ImageWork): Promise<ReconcileResult> {
    const isDue = this.#isDue(work);
    const named = namedContent(work.request);
    try {
      if (named !== undefined && this.#lacks(work, { named, isDue })) {
        await this.#recover(work, { named, isDue });
      }
      const state = this.#content.stateOf(work);
      if (!isDue && state !== undefined && state.resolvedRef === named) {
        return await this.#settle(work, state);
      }
      return await this.#refresh(work);
    } catch (error) {
      if (!(error instanceof CatalogFailure)) throw error;
      return await this.#fail(work, error, isDue ? undefined : named);
    }
  }

  /** Whether the tag decides: the spec has changed since the status was written, or a poll is due. */
  #isDue({ object, request }: ImageWork): boolean {
    const isNew = request.remembered.generation !== object.metadata.generation;
    return isNew || this.#schedule.untilPoll(request) === 0;
  }

  /** Whether the content that the status names has to be fetched by its digest. */
  #lacks(work: ImageWork, { named, isDue }: Named): boolean {
    const { name } = work.key;
    const served = this.#content.stateOf(work)?.resolvedRef;
    if (served === undefined) {
      const { generation } = work.object.metadata;
      return !isDue || this.#schedule.untilRetry(name, generation) === undefined;
    }
    // What this process has settled on: somebody else has written another digest into the status.
    return !isDue && served !== named && served !== this.#settled.get(name);
  }

  /**
   * Serves again, by its digest, what a former process has served and this one lacks: a restart, or
   * another leader, changes no content, and needs no tag.
   */
  async #recover(work: ImageWork, { named, isDue }: Named): Promise<void> {
    try {
      await this.#content.serve(work, await this.#download(work, named));
    } catch (error) {
      const failure = asFailure(error, work.signal);
      // Only then may the tag have other content.
      if (!isDue && !failure.isMissing) throw failure;
    }
  }

  /** Nothing is due: what is served is what the status names. */
  async #settle(work: ImageWork, state: StoredState): Promise<ReconcileResult> {
    const { request, key } = work;
    const { remembered } = request;
    if (remembered.problem !== undefined) {
      return await this.#succeed(work, state, remembered.polledAt);
    }
    this.#parts.served.report(key, undefined);
    this.#schedule.succeeded(key.name);
    this.#settled.set(key.name, state.resolvedRef);
    return after(this.#schedule.untilPoll(request));
  }

  async #refresh(work: ImageWork): Promise<ReconcileResult> {
    const newest = await this.#newest(work).catch((error: unknown) => {
      throw asFailure(error, work.signal);
    });
    return 'content' in newest
      ? await this.#serveNext(work, newest)
      : await this.#succeed(work, newest);
  }

  /** Reads the object first: a silent watch may not show that its user wants other content by now. */
  async #serveNext(work: ImageWork, stored: StoredContent): Promise<ReconcileResult> {
    const at = this.#parts.clock.now();
    const { state, content } = stored;
    await this.#content.serveNext(work, stored, async () => {
      if (this.#content.stateOf(work) !== undefined) {
        await this.#writer.renew(work.object, work.signal);
      }
      const packages = content.records.packages.size;
      const next = { ...state, packages };
      await this.#writer.write(work.object, { kind: 'unpacked', served: next, at });
    });
    return this.#succeeded(work, state, at);
  }

  async #succeed(
    work: ImageWork,
    state: StoredState,
    at = this.#parts.clock.now(),
  ): Promise<ReconcileResult> {
    const packages = this.#parts.served.packagesOf(work.key);
    const served = { ...state, packages };
    await this.#writer.write(work.object, { kind: 'unpacked', served, at });
    return this.#succeeded(work, state, at);
  }

  #succeeded({ key, request }: ImageWork, state: StoredState, at: number): ReconcileResult {
    this.#schedule.succeeded(key.name);
    this.#parts.served.report(key, undefined);
    this.#settled.set(key.name, state.resolvedRef);
    const remembered = { ...request.remembered, polledAt: at };
    return after(this.#schedule.untilPoll({ ...request, remembered }));
  }

  /** The image's present content; its state if it is served already. */
  async #newest(work: ImageWork): Promise<StoredContent | StoredState> {
    const { object, request, signal } = work;
    const { uid = '' } = object.metadata;
    const resolvedRef = await this.#parts.images.resolve(request.image, signal);
    const current = this.#content.stateOf(work);
    if (current?.uid === uid && current.resolvedRef === resolvedRef) {
      return await this.#content.restate(work, current);
    }
    return await this.#download(work, resolvedRef);
  }

  async #download(work: ImageWork, resolvedRef: string) {
    const broken = this.#schedule.brokenImage(work.key.name, resolvedRef);
    if (broken !== undefined) throw broken;
    return await this.#content.download(work, resolvedRef);
  }

  /** @param lost content that the status names, if nothing asks for other content */
  async #fail(work: CatalogWork, failure: CatalogFailure, lost?: string): Promise<ReconcileResult> {
    const { served, adapter } = this.#parts;
    const { key, object } = work;
    const delay = this.#schedule.failed(key.name, object.metadata.generation, failure);
    served.report(key, adapter.textOf(failure));
    const isPinned = hasImage(work) && work.request.image.ref.includes('@');
    const isBlocked = failure.isFinal || (isPinned && failure.brokenRef !== undefined);
    const state = served.stateOf(key);
    const former = state && { ...state, packages: served.packagesOf(key) };
    await this.#writer.write(object, { kind: 'failed', failure, served: former, isBlocked, lost });
    return after(delay);
  }
}

/** Infinity and undefined are never. */
function after(ms: number | undefined): ReconcileResult {
  return ms !== undefined && Number.isFinite(ms) ? { requeueAfter: ms } : {};
}

/** Also what the image is not to blame for, such as a full disk, is told in the status. */
function asFailure(error: unknown, signal: AbortSignal): CatalogFailure {
  signal.throwIfAborted();
  if (error instanceof CatalogFailure) return error;
  return new CatalogFailure('image', errorMessage(error), { cause: error });
}

import { errorMessage, TerminalError } from '../../core/errors.ts';
import { type Clock, withDeadline } from '../../core/platform/clock.ts';
import { placedError } from '../blobs/index.ts';
import type { OpenCatalogOptions } from '../load/index.ts';
import { type CatalogPlace, contentOfPlace, fixedPlace, stateOfPlace } from './catalog-place.ts';
import type { ContentCache } from './content-cache.ts';
import { ServedCatalog } from './served-catalog.ts';

export interface FollowOptions extends OpenCatalogOptions {
  readonly cache: ContentCache;
  /** Maximum milliseconds of one look, with the download of new content (default 1 hour). */
  readonly timeout?: number;
  /** Called when new content is served. */
  readonly onReplaced: (catalog: ServedCatalog) => void;
  /** Called once for each problem that prevents new content from being served. */
  readonly onFailure: (catalog: ServedCatalog, error: unknown) => void;
}

const longestLook = 60 * 60_000;

/**
 * Serves a catalog and follows its changes: when its directory or the image of its tag changes, new
 * content replaces the old one once it is complete and valid.
 */
export class CatalogFollower {
  readonly catalog: ServedCatalog;
  readonly #place: CatalogPlace;
  readonly #options: FollowOptions;
  /** State of the served content, or of content that is known to be broken. */
  #state: string;
  /** State at the last look: it may still be changing. */
  #next: string | undefined;
  #problem: string | undefined;

  private constructor(
    place: CatalogPlace,
    options: FollowOptions,
    now: { readonly catalog: ServedCatalog; readonly state: string },
  ) {
    this.#place = place;
    this.#options = options;
    this.#state = now.state;
    this.catalog = now.catalog;
  }

  /** Rejects if the catalog cannot be served. */
  static async open(named: CatalogPlace, options: FollowOptions): Promise<CatalogFollower> {
    const place = fixedPlace(named);
    const state = await stateOfPlace(place, options);
    const content = await contentOfPlace(place, options.cache, options);
    const catalog = new ServedCatalog(place.name, content);
    return new CatalogFollower(place, options, { catalog, state });
  }

  /** Looks every `interval` milliseconds until the signal is aborted. Never rejects. */
  async follow(interval: number, clock: Clock): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(interval, signal).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  /**
   * Looks for changes once. Applies a change after two looks at the same state, so that it does not
   * read a directory during a copy.
   */
  async look(): Promise<void> {
    const { signal, timeout: ms = longestLook } = this.#options;
    const timeoutError = () => new Error(`not read within the limit of ${ms / 1000} s`);
    try {
      await withDeadline({ ms, signal, timeoutError }, (within) => this.#lookWithin(within));
    } catch (error) {
      this.#fail(error);
    }
  }

  async #lookWithin(signal: AbortSignal): Promise<void> {
    const state = await stateOfPlace(this.#place, { ...this.#options, signal });
    const isSettled = state === this.#next;
    this.#next = state;
    if (state !== this.#state) {
      if (!isSettled) return;
      await this.#replace(state, signal);
    }
    this.#problem = undefined;
  }

  async #replace(state: string, signal: AbortSignal): Promise<void> {
    try {
      const { cache } = this.#options;
      const content = await contentOfPlace(this.#place, cache, { ...this.#options, signal });
      await this.catalog.replace(content);
      this.#state = state;
    } catch (error) {
      // Broken content stays broken until it changes; a registry may recover by the next look.
      if (error instanceof TerminalError) this.#state = state;
      throw error;
    }
    this.#options.onReplaced(this.catalog);
  }

  #fail(error: unknown): void {
    if (this.#options.signal.aborted) return;
    const placed = placedError(error);
    const problem = errorMessage(placed);
    if (problem !== this.#problem) this.#options.onFailure(this.catalog, placed);
    this.#problem = problem;
  }
}

import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { Clock } from '../../core/platform/clock.ts';
import type { OpenCatalogOptions } from '../load/index.ts';
import { type CatalogPlace, contentOfPlace, fixedPlace, stateOfPlace } from './catalog-place.ts';
import type { ContentCache } from './content-cache.ts';
import { ServedCatalog } from './served-catalog.ts';

export interface FollowOptions extends OpenCatalogOptions {
  readonly cache: ContentCache;
  /** Told when new content is served. */
  readonly onReplaced: (catalog: ServedCatalog) => void;
  /** Told once of each thing that keeps new content from being served. */
  readonly onFailure: (catalog: ServedCatalog, error: unknown) => void;
}

/**
 * Serves a catalog, and what it becomes: when its directory or the image behind its tag changes, new
 * content takes the place of the former as soon as it is whole and valid, and not before.
 */
export class CatalogFollower {
  readonly catalog: ServedCatalog;
  readonly #place: CatalogPlace;
  readonly #options: FollowOptions;
  /** Of what is served, or what is known to be broken. */
  #state: string;
  /** Seen once: it may still be changing. */
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

  /** Rejects where the catalog cannot be served. */
  static async open(named: CatalogPlace, options: FollowOptions): Promise<CatalogFollower> {
    const place = fixedPlace(named);
    const state = await stateOfPlace(place, options);
    const content = await contentOfPlace(place, options.cache, options);
    const catalog = new ServedCatalog(place.name, content);
    return new CatalogFollower(place, options, { catalog, state });
  }

  /** Looks every so many milliseconds until the signal is aborted. Never rejects. */
  async follow(interval: number, clock: Clock): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(interval, signal).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  /**
   * Looks once. A change is taken when two looks see the same, so that a directory that is being
   * copied is left alone.
   */
  async look(): Promise<void> {
    try {
      const state = await stateOfPlace(this.#place, this.#options);
      const isSettled = state === this.#next;
      this.#next = state;
      if (state === this.#state || !isSettled) return;
      await this.#replace(state);
      this.#problem = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  async #replace(state: string): Promise<void> {
    try {
      const content = await contentOfPlace(this.#place, this.#options.cache, this.#options);
      await this.catalog.replace(content);
      this.#state = state;
    } catch (error) {
      // Broken content stays so until it changes; a registry may answer the next time.
      if (error instanceof TerminalError) this.#state = state;
      throw error;
    }
    this.#options.onReplaced(this.catalog);
  }

  #fail(error: unknown): void {
    if (this.#options.signal.aborted) return;
    const problem = errorMessage(error);
    if (problem !== this.#problem) this.#options.onFailure(this.catalog, error);
    this.#problem = problem;
  }
}

import type { SourceResult } from '../contracts/source.ts';
import { aborted } from '../platform/clock.ts';
import { type MemoryShare } from '../platform/runtime/index.ts';

/** What was fetched, for each Bundle that has it to release when it needs it no longer. */
export interface FetchedContent extends SourceResult {
  readonly memory: Pick<MemoryShare, 'retain' | 'release'>;
}

type Outcome =
  | { readonly content: FetchedContent }
  | { readonly error: unknown }
  /** Whoever fetched does no longer; the content may be there nevertheless. */
  | 'given up';

/** One fetch for all Bundles that want the same source at the same time, with the same Secret. */
export class SharedFetches {
  readonly #running = new Map<string, Promise<Outcome>>();

  /**
   * The content, where somebody else fetches the same key, retained for the caller; else the right
   * to fetch it, which has to be given up in the end. Without a key the fetch is not shared.
   * @throws what the other fetch throws, or the signal's reason where it is aborted before.
   */
  async join(key: string | undefined, signal: AbortSignal): Promise<FetchedContent | OwnFetch> {
    for (;;) {
      const running = key === undefined ? undefined : this.#running.get(key);
      if (running === undefined) return this.#begin(key);
      const outcome = await Promise.race([running, aborted(signal)]);
      signal.throwIfAborted();
      if (typeof outcome !== 'object') continue;
      if ('content' in outcome) {
        outcome.content.memory.retain();
        return outcome.content;
      }
      throw outcome.error;
    }
  }

  #begin(key: string | undefined): OwnFetch {
    const outcome = Promise.withResolvers<Outcome>();
    if (key !== undefined) this.#running.set(key, outcome.promise);
    return new OwnFetch((result) => {
      if (key !== undefined && this.#running.get(key) === outcome.promise)
        this.#running.delete(key);
      outcome.resolve(result);
    });
  }
}

/** The right to fetch a source, for those who wait for it as well; only the first call counts. */
export class OwnFetch {
  readonly #end: (outcome: Outcome) => void;

  constructor(end: (outcome: Outcome) => void) {
    this.#end = end;
  }

  succeed(content: FetchedContent): void {
    this.#end({ content });
  }

  fail(error: unknown): void {
    this.#end({ error });
  }

  /** The next of those who wait fetches instead. */
  giveUp(): void {
    this.#end('given up');
  }
}

import type { SourceResult } from '../../contracts/source.ts';
import { abortable } from '../../platform/clock.ts';
import { type MemoryShare } from '../../platform/runtime/index.ts';

/** Fetched content; each Bundle that has it must release it. */
export interface FetchedContent extends SourceResult {
  readonly memory: Pick<MemoryShare, 'retain' | 'release'>;
}

type Outcome =
  | { readonly content: FetchedContent }
  | { readonly error: unknown }
  /** The fetching Bundle has given up; the content may exist nevertheless. */
  | 'given up';

interface Awaited {
  readonly outcome: PromiseWithResolvers<Exclude<Outcome, 'given up'>>;
  waiters: number;
}

/**
 * One fetch for all Bundles that need the same source at the same time, with the same Secret. Only
 * Bundles with a place for unpacking fetch, so that nobody waits in the line of another creator.
 */
export class SharedFetches {
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #awaited = new Map<string, Awaited>();

  /**
   * The content of a running fetch with the same key, retained for the caller; otherwise the right
   * to fetch it, which the caller must give up in the end. A fetch without a key is not shared.
   * @throws the error of the other fetch, or the signal's reason when it is aborted first.
   */
  async join(key: string | undefined, signal: AbortSignal): Promise<FetchedContent | OwnFetch> {
    for (;;) {
      const running = key === undefined ? undefined : this.#running.get(key);
      if (running === undefined) return this.#begin(key);
      const outcome = await abortable(running, signal);
      signal.throwIfAborted();
      if (typeof outcome === 'object') return retained(outcome);
    }
  }

  /**
   * The content of the next fetch with the key that ends, running or not yet begun, retained for the
   * caller; given up fetches do not count.
   * @throws the error of that fetch, or the signal's reason when it is aborted first.
   */
  async contentOf(key: string, signal: AbortSignal): Promise<FetchedContent> {
    const awaited = this.#awaited.get(key) ?? {
      outcome: Promise.withResolvers(),
      waiters: 0,
    };
    this.#awaited.set(key, awaited);
    awaited.waiters += 1;
    try {
      return retained(await abortable(awaited.outcome.promise, signal));
    } finally {
      awaited.waiters -= 1;
      if (awaited.waiters === 0 && this.#awaited.get(key) === awaited) this.#awaited.delete(key);
    }
  }

  #begin(key: string | undefined): OwnFetch {
    const outcome = Promise.withResolvers<Outcome>();
    if (key !== undefined) this.#running.set(key, outcome.promise);
    return new OwnFetch((result) => {
      if (key !== undefined && this.#running.get(key) === outcome.promise) {
        this.#running.delete(key);
        if (result !== 'given up') this.#tell(key, result);
      }
      outcome.resolve(result);
    });
  }

  #tell(key: string, result: Exclude<Outcome, 'given up'>): void {
    const awaited = this.#awaited.get(key);
    this.#awaited.delete(key);
    awaited?.outcome.resolve(result);
  }
}

function retained(outcome: Exclude<Outcome, 'given up'>): FetchedContent {
  if ('error' in outcome) throw outcome.error;
  outcome.content.memory.retain();
  return outcome.content;
}

/** The right to fetch a source, also for waiting Bundles; only the first call counts. */
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

  /** The next waiting Bundle fetches instead. */
  giveUp(): void {
    this.#end('given up');
  }
}

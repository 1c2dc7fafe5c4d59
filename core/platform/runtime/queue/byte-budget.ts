import { TerminalError, WaitingError } from '../../../errors.ts';
import { abortable, type Clock } from '../../clock.ts';
import { MemoryShare, type ShareKind, type ShareOptions } from './memory-share.ts';

interface ByteBudgetOptions {
  readonly bytes: number;
  /** Bytes that each share gets without waiting (default: 2 MiB). */
  readonly unwaited?: number;
  readonly clock: Clock;
}

interface Waiting {
  readonly share: MemoryShare;
  readonly bytes: number;
  readonly turn: PromiseWithResolvers<void>;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/**
 * Milliseconds of waiting after which the budget ends a fetch that made almost no progress in that
 * time.
 */
const patience = 5_000;

/** Milliseconds between two such ends, because one fetch's memory may be enough. */
const lookInterval = 1_000;

const mebibyte = 1024 * 1024;

/** Most content is smaller, and therefore never waits for others. */
const defaultUnwaited = 2 * mebibyte;

/**
 * Limits the bytes of all content and all worker processes of this process. Content waits for its
 * bytes in the order of arrival; a process's memory is measured. The budget ends fetches, which are
 * retried later, so that a stalling server cannot keep memory from others. Work on fetched content
 * never waits, so it always finishes.
 */
export class ByteBudget {
  readonly bytes: number;
  readonly #unwaited: number;
  readonly #clock: Clock;
  /** In the order of creation. */
  readonly #shares = new Set<MemoryShare>();
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #ended = 0;
  #watching: AbortController | undefined;

  constructor({ bytes, unwaited = defaultUnwaited, clock }: ByteBudgetOptions) {
    this.bytes = bytes;
    this.#unwaited = unwaited;
    this.#clock = clock;
  }

  /** Megabytes for one worker process: half, so that a single one cannot take everything. */
  get megabytesForProcess(): number {
    return Math.floor(this.bytes / 2 / mebibyte);
  }

  /** Bytes. */
  get taken(): number {
    return this.#taken;
  }

  /** Number of fetches that wait for bytes. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Number of fetches and processes that were ended for others. */
  get ended(): number {
    return this.#ended;
  }

  open(options: ShareOptions): MemoryShare {
    const share = new MemoryShare(options, {
      now: () => this.#clock.monotonic(),
      take: (bytes, signal) => this.#take(share, bytes, signal),
      changed: (before) => this.#changed(share, before),
      relieve: () => {
        if (!this.#fits(0)) this.#relieve(share);
      },
    });
    this.#shares.add(share);
    return share;
  }

  async #take(share: MemoryShare, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (share.bytes + bytes > this.bytes) throw this.#tooLarge();
    const isNext = this.#waiting.length === 0 && this.#fits(bytes);
    if (isNext || share.bytes + bytes <= this.#unwaited) return share.add(bytes);
    const since = this.#clock.monotonic();
    const waiting = { share, bytes, turn: Promise.withResolvers<void>(), since };
    this.#waiting.push(waiting);
    this.#endIdle(bytes);
    void this.#watchFirst();
    try {
      await abortable(waiting.turn.promise, signal);
      signal.throwIfAborted();
    } finally {
      const at = this.#waiting.indexOf(waiting);
      if (at !== -1) this.#waiting.splice(at, 1);
      this.#serve();
      if (this.#waiting.length === 0) this.#stopWatching();
    }
  }

  #fits(bytes: number): boolean {
    return this.#taken + bytes <= this.bytes;
  }

  #changed(share: MemoryShare, before: number): void {
    this.#taken += share.bytes - before;
    if (share.isOpen) this.#shares.add(share);
    else this.#shares.delete(share);
    if (share.bytes < before) this.#serve();
  }

  #serve(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (!this.#fits(next.bytes)) return;
      this.#waiting.shift();
      next.share.add(next.bytes);
      next.turn.resolve();
    }
  }

  /**
   * While anybody waits: ends a fetch that its server delays, or otherwise one that waits for bytes
   * itself.
   */
  async #watchFirst(): Promise<void> {
    if (this.#watching !== undefined) return;
    const watching = new AbortController();
    this.#watching = watching;
    try {
      for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
        await this.#clock.sleep(lookInterval, watching.signal);
        const isLong = first.since <= this.#clock.monotonic() - patience;
        if (isLong && first === this.#waiting[0]) this.#endSlow(first.share);
      }
    } catch {
      // Nobody waits any more.
    }
    if (this.#watching === watching) this.#watching = undefined;
  }

  #stopWatching(): void {
    this.#watching?.abort();
    this.#watching = undefined;
  }

  /** Prefers a fetch that waits only for its server to one that waits for bytes as well. */
  #endSlow(first: MemoryShare): void {
    const queued = this.#queued;
    const waiting = this.#endable('fetch').filter((share) => share !== first && queued.has(share));
    this.#end(this.#stalled(queued) ?? waiting.at(-1));
  }

  /** The latest fetch that its server delays. */
  #stalled(queued: ReadonlySet<MemoryShare>): MemoryShare | undefined {
    const since = this.#clock.monotonic() - patience;
    return this.#endable('fetch').findLast((share) => share.grewAt <= since && !queued.has(share));
  }

  #endIdle(bytes: number): void {
    for (const share of this.#endable('idle')) {
      if (this.#fits(bytes - this.#leaving)) return;
      this.#end(share);
    }
  }

  /**
   * Measured memory is in use already, so another process must end. A single process may continue,
   * because it has its own limit; of several, the oldest continues, so that one always finishes.
   */
  #relieve(grown: MemoryShare): void {
    this.#endIdle(0);
    while (!this.#fits(-this.#leaving)) {
      const work = this.#endable('work');
      const youngest = work.length > 1 ? work.at(-1) : this.#endable('fetch').at(-1);
      const victim = this.#stalled(this.#queued) ?? youngest;
      if (victim === undefined) return;
      this.#end(victim);
      if (victim === grown) return;
    }
  }

  get #queued(): ReadonlySet<MemoryShare> {
    return new Set(this.#waiting.map(({ share }) => share));
  }

  /** Bytes of shares that have been told to end and have not ended yet. */
  get #leaving(): number {
    let bytes = 0;
    for (const share of this.#shares) if (share.isEnding) bytes += share.bytes;
    return bytes;
  }

  /** Shares that hold bytes, the oldest first. */
  #endable(kind: ShareKind): readonly MemoryShare[] {
    return Array.from(this.#shares).filter(
      (share) => share.kind === kind && share.canEnd && share.bytes > 0,
    );
  }

  #end(share: MemoryShare | undefined): void {
    if (share === undefined) return;
    this.#ended += 1;
    const inUse = `all ${this.#megabytes} MiB that content and worker processes may take together (--memory-budget) are in use`;
    share.end(new WaitingError(`waiting for memory: ${inUse}`));
  }

  #tooLarge(): TerminalError {
    return new TerminalError(
      `the content needs more memory than the ${this.#megabytes} MiB that all content may take together (--memory-budget): make it smaller, split it, or allow more`,
    );
  }

  get #megabytes(): number {
    return Math.floor(this.bytes / mebibyte);
  }
}

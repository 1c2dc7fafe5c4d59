import { TerminalError, WaitingError } from '../../errors.ts';
import { aborted, type Clock } from '../clock.ts';
import { MemoryShare, type ShareKind, type ShareOptions } from './memory-share.ts';

interface ByteBudgetOptions {
  readonly bytes: number;
  /** Of each share, which are given at once whatever others have (default: 2 MiB). */
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

/** Milliseconds: who waits longer has a fetch ended that got next to nothing in as long. */
const patience = 5_000;

/** Milliseconds: one is ended at a time, for its memory may be enough. */
const lookInterval = 1_000;

const mebibyte = 1024 * 1024;

/** Most content is smaller, and so never waits for what others hold. */
const defaultUnwaited = 2 * mebibyte;

/**
 * The bytes that all content and all worker processes of this process may take at once. Content
 * waits for its bytes, in the order in which it came; what a process takes is measured. Fetches are
 * ended, and tried again, so that no server that stalls keeps memory from others: nobody waits for
 * what only a server can end. Work that has its content waits for no more, so it always ends.
 */
export class ByteBudget {
  readonly bytes: number;
  readonly #unwaited: number;
  readonly #clock: Clock;
  /** In the order in which they were opened. */
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

  /** What one process may take that is our own: half, so that no one of them keeps all from others. */
  get megabytesForProcess(): number {
    return Math.floor(this.bytes / 2 / mebibyte);
  }

  /** Bytes. */
  get taken(): number {
    return this.#taken;
  }

  /** How many fetches wait for bytes. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many fetches and processes were ended for others, so far. */
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
      await Promise.race([waiting.turn.promise, aborted(signal)]);
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

  /** As long as anybody waits: one that its server keeps waiting is ended, else one that waits for us. */
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

  /** Who waits for nothing but a server, rather than who waits for us as well. */
  #endSlow(first: MemoryShare): void {
    const queued = this.#queued;
    const waiting = this.#endable('fetch').filter((share) => share !== first && queued.has(share));
    this.#end(this.#stalled(queued) ?? waiting.at(-1));
  }

  /** The youngest that its server keeps waiting. */
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
   * What was measured is taken already: somebody has to go. A process alone may go on, for its own
   * bound is for that; of several the oldest survives, so one of them always ends by itself.
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

  /** Bytes of those who were told to end and have not yet. */
  get #leaving(): number {
    let bytes = 0;
    for (const share of this.#shares) if (share.isEnding) bytes += share.bytes;
    return bytes;
  }

  /** Those with something to give back, the oldest first. */
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

/**
 * What a share is for. An `idle` one can be had back for nothing; a `fetch` waits for a server and
 * can be made again; `work` on what is here already ends by itself.
 */
export type ShareKind = 'idle' | 'fetch' | 'work';

export interface ShareOptions {
  readonly kind: ShareKind;
  /** Ends what takes the memory, with the reason; its share is given back when it has ended. */
  readonly onEnd?: ((reason: Error) => void) | undefined;
}

interface ShareParts {
  readonly now: () => number;
  readonly take: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly changed: (before: number) => void;
  readonly relieve: () => void;
}

/** What one fetch, one content or one process takes of a budget. */
export class MemoryShare {
  readonly #parts: ShareParts;
  #onEnd: ShareOptions['onEnd'];
  #kind: ShareKind;
  #bytes = 0;
  #holders = 1;
  #grewAt: number;
  #isEnding = false;

  constructor({ kind, onEnd }: ShareOptions, parts: ShareParts) {
    this.#parts = parts;
    this.#onEnd = onEnd;
    this.#kind = kind;
    this.#grewAt = parts.now();
  }

  get kind(): ShareKind {
    return this.#kind;
  }

  /** That are counted. */
  get bytes(): number {
    return this.isOpen ? this.#bytes : 0;
  }

  get isOpen(): boolean {
    return this.#holders > 0;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get canEnd(): boolean {
    return this.#onEnd !== undefined && !this.#isEnding;
  }

  /** When it last became larger, in the clock's monotonic milliseconds. */
  get grewAt(): number {
    return this.#grewAt;
  }

  /**
   * Waits for bytes more.
   * @throws the signal's reason where it is aborted before, with which an ended share's should be;
   * TerminalError where there will never be as many
   */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#parts.take(bytes, signal);
  }

  /** Bytes more, for which there was room. */
  add(bytes: number): void {
    this.#count(this.bytes + bytes);
  }

  /** Says how many bytes there are: where they do not fit, others are ended for them. */
  set(bytes: number): void {
    this.#count(bytes);
    this.#parts.relieve();
  }

  #count(bytes: number): void {
    const before = this.bytes;
    this.#bytes = bytes;
    if (bytes > before) this.#grewAt = this.#parts.now();
    this.#parts.changed(before);
  }

  become(kind: ShareKind): void {
    this.#kind = kind;
    this.#grewAt = this.#parts.now();
    if (kind !== 'idle') this.#isEnding = false;
  }

  /** It is content now, of so many bytes, and no longer to be ended. */
  settle(bytes: number): void {
    this.#onEnd = undefined;
    this.become('work');
    this.set(bytes);
  }

  /** One more is to release it. */
  retain(): void {
    const before = this.bytes;
    this.#holders += 1;
    this.#parts.changed(before);
  }

  release(): void {
    const before = this.bytes;
    this.#holders -= 1;
    this.#parts.changed(before);
  }

  end(reason: Error): void {
    this.#isEnding = true;
    this.#onEnd?.(reason);
  }
}

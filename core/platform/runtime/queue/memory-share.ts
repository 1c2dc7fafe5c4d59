/**
 * The purpose of a share. An `idle` one can be ended at no cost; a `fetch` waits for a server and
 * can be repeated; `work` on available content ends by itself.
 */
export type ShareKind = 'idle' | 'fetch' | 'work';

export interface ShareOptions {
  readonly kind: ShareKind;
  /** Ends the holder of the memory, with the reason; the holder releases the share after that. */
  readonly onEnd?: ((reason: Error) => void) | undefined;
}

interface ShareParts {
  readonly now: () => number;
  readonly take: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly changed: (before: number) => void;
  readonly relieve: () => void;
}

/** The part of a budget that one fetch, one content or one process takes. */
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

  /** The counted bytes. */
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

  /** When it last grew, in the clock's monotonic milliseconds. */
  get grewAt(): number {
    return this.#grewAt;
  }

  /**
   * Waits for more bytes.
   * @throws the signal's reason when it is aborted first (abort it when the share ends);
   * TerminalError when the budget can never have that many
   */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#parts.take(bytes, signal);
  }

  /** Adds bytes for which there is room. */
  add(bytes: number): void {
    this.#count(this.bytes + bytes);
  }

  /** Sets the measured bytes: when they exceed the budget, other shares are ended. */
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

  /** Marks the share as complete content of so many bytes, which is never ended. */
  settle(bytes: number): void {
    this.#onEnd = undefined;
    this.become('work');
    this.set(bytes);
  }

  /** One more `release` is needed. */
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

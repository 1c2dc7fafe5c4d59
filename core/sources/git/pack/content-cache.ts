/** Contents by where they begin, those used last: the newest, and others as far as there is room. */
export class ContentCache {
  readonly #maxBytes: number;
  readonly #contents = new Map<number, Buffer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(start: number): Buffer | undefined {
    const content = this.#contents.get(start);
    if (content === undefined) return undefined;
    this.#contents.delete(start);
    this.#contents.set(start, content);
    return content;
  }

  set(start: number, content: Buffer): void {
    this.#contents.set(start, content);
    this.#bytes += content.byteLength;
    for (const [oldest, old] of this.#contents) {
      if (this.#bytes <= this.#maxBytes || oldest === start) return;
      this.#contents.delete(oldest);
      this.#bytes -= old.byteLength;
    }
  }
}

/** As AbortSignal.timeout(), and may be stopped for a while. */
export class Countdown {
  readonly #over = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** Begins with so many milliseconds. */
  constructor(left: number) {
    this.#left = left;
    this.goOn();
  }

  /** Aborted when no time is left. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#since;
  }

  goOn(): void {
    if (this.#ended || this.#timer !== undefined) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#expire(), Math.max(this.#left, 0)).unref();
  }

  /** For good. */
  end(): void {
    this.stop();
    this.#ended = true;
  }

  #expire(): void {
    this.#over.abort(new DOMException('The time is over', 'TimeoutError'));
  }
}

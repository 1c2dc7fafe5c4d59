export interface BackoffOptions {
  /** Milliseconds. */
  readonly initial: number;
  readonly max: number;
}

/** Delays that double up to a maximum, each longer by a random part of itself. */
export class Backoff {
  readonly #options: BackoffOptions;
  #base: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#base = options.initial;
  }

  /** Milliseconds to wait now; the next ones are longer. */
  next(): number {
    const base = this.#base;
    this.#base = Math.min(base * 2, this.#options.max);
    return Math.min(base * (1 + Math.random()), this.#options.max);
  }

  reset(): void {
    this.#base = this.#options.initial;
  }
}

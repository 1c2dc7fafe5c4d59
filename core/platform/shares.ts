interface SharesOptions {
  /** Maximum of one holder. */
  readonly each: number;
  /** Maximum of all holders together (default: none). */
  readonly total?: number;
}

/** Divides a limited amount among holders, so that one cannot take all of it. */
export class Shares {
  readonly #options: Required<SharesOptions>;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor({ each, total = Number.POSITIVE_INFINITY }: SharesOptions) {
    this.#options = { each, total };
  }

  /** Gives the holder so much more, or nothing: then returns the option that refuses it. */
  take(holder: string, amount = 1): keyof SharesOptions | undefined {
    const held = (this.#held.get(holder) ?? 0) + amount;
    if (held > this.#options.each) return 'each';
    if (this.#total + amount > this.#options.total) return 'total';
    this.#held.set(holder, held);
    this.#total += amount;
    return undefined;
  }

  giveBack(holder: string, amount = 1): void {
    const held = (this.#held.get(holder) ?? 0) - amount;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#total -= amount;
  }
}

/** Enough for any message; what is found beyond is only counted. */
const maxTexts = 500;

/** What the check of one value has found, each text once. */
export class Outcome {
  /** Made with the first text: nearly all values are valid, and there are very many. */
  #texts: Set<string> | undefined;
  #uncounted = 0;
  /**
   * How many checks were made without a finding in between, as go-openapi counts them: of several
   * alternatives that all fail, it reports the one with the most.
   */
  matches = 0;

  static of(text: string): Outcome {
    const outcome = new Outcome();
    outcome.add(text);
    return outcome;
  }

  get isValid(): boolean {
    return this.#texts === undefined;
  }

  get texts(): readonly string[] {
    return [...(this.#texts ?? [])];
  }

  /** How many more were found than there are texts. */
  get more(): number {
    return this.#uncounted;
  }

  add(text: string): void {
    this.#texts ??= new Set();
    if (this.#texts.size < maxTexts) this.#texts.add(text);
    else if (!this.#texts.has(text)) this.#uncounted += 1;
  }

  merge(other: Outcome | undefined): void {
    if (other === undefined) return;
    for (const text of other.#texts ?? []) this.add(text);
    this.#uncounted += other.#uncounted;
    this.matches += other.matches;
  }
}

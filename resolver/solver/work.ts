/** Steps of a search: each look at a literal is one. */
export class Work {
  readonly #limit: number;
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws SolverLimitError past the limit */
  add(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#limit) throw new SolverLimitError(this.#limit);
  }
}

/** The problem may have a solution or not: finding out takes more steps than allowed. */
export class SolverLimitError extends Error {
  override readonly name = 'SolverLimitError';

  constructor(limit: number) {
    super(
      `The solver gave up after ${limit} steps: reduce the number of bundles that can meet the same requirement.`,
    );
  }
}

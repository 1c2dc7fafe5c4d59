/** Steps of one resolution: about two seconds of a processor. */
export const resolutionSteps = 40_000_000;

export interface BudgetLimits {
  /** Maximum number of steps (default: `resolutionSteps`). */
  readonly steps?: number;
  /** Refuses expressions, as if the first one took all steps (default: true). */
  readonly allowsRules?: boolean;
}

/**
 * The steps that one resolution may take, shared by all that it does: reading ranges, walking upgrade
 * graphs, judging candidates by constraints and expressions, solving, explaining. A step takes about
 * 50 ns. Who does work pays before it; the count depends on the input alone.
 */
export class Budget {
  readonly limit: number;
  readonly #allowsRules: boolean;
  readonly #whole: Budget | undefined;
  #left: number;

  constructor({ steps = resolutionSteps, allowsRules = true }: BudgetLimits = {}, whole?: Budget) {
    this.limit = steps;
    this.#left = steps;
    this.#allowsRules = allowsRules;
    this.#whole = whole;
  }

  /** @throws BudgetError past the limit */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError(this.limit);
    this.#whole?.take(steps);
  }

  /** @throws BudgetError where expressions are not allowed */
  takeRule(): void {
    if (!this.#allowsRules) throw new BudgetError(this.limit);
  }

  /** Pays for sorting a list. */
  takeSort(length: number): void {
    this.take(comparisonSteps * length * Math.ceil(Math.log2(length + 1)));
  }

  /** A half of what is left, for work that can be left out; what it takes is taken here too. */
  half(): Budget {
    const limits = { steps: Math.floor(this.#left / 2), allowsRules: this.#allowsRules };
    return new Budget(limits, this);
  }
}

/** Steps of a comparison of two versions. */
export const comparisonSteps = 5;

/** The answer may be one or the other: finding out takes more steps than allowed. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';

  constructor(limit: number) {
    super(`the resolution takes more than ${limit} steps`);
  }
}

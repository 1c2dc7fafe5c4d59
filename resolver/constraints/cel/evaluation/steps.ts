import type { Budget } from '../../../budget.ts';
import { RuleRefusedError } from '../../requirement.ts';

/**
 * Steps that an evaluation may take. A step is about what comparing two numbers takes, or reading
 * `perStep` characters of a text; who makes a list or text pays for its items or characters.
 */
export const maxSteps = 100_000;
const perStep = 64;
/** What an evaluation takes besides. */
const evaluationSteps = 10;

export class Steps {
  readonly #budget: Budget;
  #left = maxSteps;

  constructor(budget: Budget) {
    this.#budget = budget;
    budget.take(evaluationSteps);
  }

  /**
   * @throws RuleRefusedError when none are left.
   * @throws BudgetError when none are left for the resolution.
   */
  take(steps: number): void {
    this.#budget.take(steps);
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new RuleRefusedError(
      `the expression takes more than ${maxSteps} steps for the properties of this bundle: use fewer lists inside of lists, and shorter texts`,
    );
  }

  read(...texts: readonly { readonly length: number }[]): void {
    this.take(texts.reduce((sum, { length }) => sum + length, 0) / perStep);
  }
}

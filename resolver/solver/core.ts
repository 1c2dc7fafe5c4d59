import { type Budget, BudgetError } from '../budget.ts';
import type { Constraints } from './numbered-constraints.ts';
import { search } from './search/search.ts';

/**
 * Leaves out of a core, one after the other, each constraint without which the rest still cannot hold.
 * `core` numbers constraints that cannot hold together. Past the budget, what is left then.
 */
export function minimalCore(
  constraints: Constraints,
  core: ReadonlySet<number>,
  budget: Budget,
): Constraints {
  const select = (numbers: ReadonlySet<number>): Constraints =>
    new Map([...constraints].filter(([number]) => numbers.has(number)));
  let left = select(core);
  for (const number of left.keys()) {
    if (!left.has(number)) continue;
    const rest = new Map(left);
    rest.delete(number);
    const unneeded = coreWithin(rest, budget);
    if (unneeded === 'limit') break;
    if (unneeded !== undefined) left = select(unneeded);
  }
  return left;
}

/** Undefined if the constraints can hold. */
function coreWithin(
  constraints: Constraints,
  budget: Budget,
): ReadonlySet<number> | 'limit' | undefined {
  try {
    const answer = search(constraints, budget);
    return answer.kind === 'unsatisfiable' ? answer.core : undefined;
  } catch (error) {
    if (error instanceof BudgetError) return 'limit';
    throw error;
  }
}

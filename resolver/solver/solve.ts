import { Budget, BudgetError } from '../budget.ts';
import { type Constraints, numberedConstraints } from './numbered-constraints.ts';
import type { Solution, Variable } from './problem.ts';
import { search } from './search/search.ts';

/**
 * Finds the solution that OLM's solver prefers: mandatory variables, and for each dependency of what is
 * selected the first candidate with which a solution exists. The order of variables does not matter:
 * they are taken by id; the order of constraints of one variable and of ids of a dependency does.
 * Of constraints that say the same, the last one is named.
 *
 * Each look at a literal, a constraint or a rule is a step; a minimal core takes half of what is left.
 * @throws BudgetError
 */
export function solve(variables: readonly Variable[], budget = new Budget()): Solution {
  const constraints = numberedConstraints(variables, budget);
  const answer = search(constraints, budget);
  if (answer.kind === 'satisfied') return answer;
  const core = minimalCore(constraints, answer.core, budget.half());
  return { kind: 'unsatisfiable', conflicts: [...core.values()] };
}

/**
 * Leaves out of a core, one after the other, each constraint without which the rest still cannot hold.
 * `core` numbers constraints that cannot hold together. Past the budget, what is left then.
 */
function minimalCore(
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

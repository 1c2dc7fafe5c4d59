import { Budget } from '../budget.ts';
import { minimalCore } from './core.ts';
import { numberedConstraints } from './numbered-constraints.ts';
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

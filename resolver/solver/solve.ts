import { minimalCore } from './core.ts';
import { numberedConstraints } from './numbered-constraints.ts';
import type { Solution, Variable } from './problem.ts';
import { search } from './search.ts';
import { Work } from './work.ts';

export interface SolveOptions {
  /** Maximum number of steps, each a look at a literal or constraint (default 20,000,000). */
  readonly limit?: number;
}

/** About a second of a processor. */
const defaultLimit = 20_000_000;

/**
 * Finds the solution that OLM's solver prefers: mandatory variables, and for each dependency of what is
 * selected the first candidate with which a solution exists. The order of variables does not matter:
 * they are taken by id; the order of constraints of one variable and of ids of a dependency does.
 * Of constraints that say the same, the last one is named.
 *
 * @throws SolverLimitError past the maximum number of steps
 */
export function solve(
  variables: readonly Variable[],
  { limit = defaultLimit }: SolveOptions = {},
): Solution {
  const work = new Work(limit);
  const constraints = numberedConstraints(variables, work);
  const answer = search(constraints, work);
  if (answer.kind === 'satisfied') return answer;
  const core = minimalCore(constraints, answer.core, work);
  return { kind: 'unsatisfiable', conflicts: [...core.values()] };
}

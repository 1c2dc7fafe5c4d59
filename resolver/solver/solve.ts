import { goQuote } from '../../api/go-quote.ts';
import { minimalCore } from './core.ts';
import type { AppliedConstraint, Solution, Variable } from './problem.ts';
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
  const constraints = constraintsOf(variables);
  const work = new Work(limit);
  const answer = search(constraints, work);
  if (answer.kind === 'satisfied') return answer;
  const core = minimalCore(constraints, answer.core, work);
  return { kind: 'unsatisfiable', conflicts: [...core.values()] };
}

function constraintsOf(variables: readonly Variable[]): ReadonlyMap<number, AppliedConstraint> {
  const sorted = variables.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = new Set<string>();
  const distinct = new Map<string, AppliedConstraint>();
  for (const { id, constraints } of sorted) {
    if (ids.has(id)) throw new TypeError(`duplicate identifier ${goQuote(id)} in input`);
    ids.add(id);
    for (const constraint of constraints) {
      // It keeps the place of the first one, which is that of its choice.
      distinct.set(meaningOf({ id, constraint }), { id, constraint });
    }
  }
  // What holds of one variable alone comes first, so that it is what conflicts are about.
  const ordered = [...distinct.values()].toSorted(
    (a, b) => Number(isOfOne(b)) - Number(isOfOne(a)),
  );
  const constraints = new Map(ordered.entries());
  for (const applied of constraints.values()) checkIds(applied, ids);
  return constraints;
}

function isOfOne({ id, constraint }: AppliedConstraint): boolean {
  switch (constraint.kind) {
    case 'dependency':
      return constraint.ids.length === 0;
    case 'conflict':
      return constraint.id === id;
    case 'at-most':
      return new Set(constraint.ids).size <= 1;
    default:
      return true;
  }
}

function checkIds({ id, constraint }: AppliedConstraint, known: ReadonlySet<string>): void {
  const named = 'ids' in constraint ? constraint.ids : 'id' in constraint ? [constraint.id] : [];
  const missing = named.find((each) => !known.has(each));
  if (missing === undefined) return;
  throw new TypeError(
    `variable ${goQuote(missing)} is referenced by ${goQuote(id)} but not provided`,
  );
}

/** Equal for constraints of which one says nothing that the other does not. */
function meaningOf({ id, constraint }: AppliedConstraint): string {
  switch (constraint.kind) {
    case 'mandatory':
      return JSON.stringify(['mandatory', id]);
    case 'prohibited':
      return JSON.stringify(['dependency', id]);
    case 'dependency':
      return JSON.stringify(['dependency', id, ...constraint.ids]);
    case 'conflict':
      return JSON.stringify(['at-most', 1, ...[id, constraint.id].sort()]);
    default:
      return JSON.stringify(['at-most', constraint.count, ...constraint.ids.toSorted()]);
  }
}

export type { AppliedConstraint, Constraint, Solution, Variable } from './problem.ts';
export { type SolveOptions, solve } from './solve.ts';
export { SolverLimitError } from './work.ts';

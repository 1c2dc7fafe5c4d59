export type { AppliedConstraint, Constraint, Solution, Variable } from './problem.ts';
export { solve } from './solve.ts';

export type { AppliedConstraint, Constraint, Solution, Variable } from './problem.ts';

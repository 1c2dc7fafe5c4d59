export { constraintsOf } from './constraints-of.ts';
export { type Candidate, ConstraintError, type Requirement } from './requirement.ts';

import type { Predicate } from './predicates.ts';
import { ConstraintError } from './requirement.ts';

/** @throws ConstraintError */
export function ruleOf(_rule: string, _failureMessage: string): Predicate {
  throw new ConstraintError('CEL expressions are not supported yet');
}

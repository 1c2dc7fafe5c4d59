export { constraintsOf } from './constraints-of.ts';
export { fieldIn } from './go-json.ts';
export { type PackagesProviding, possiblePackages } from './possible-packages.ts';
export type { GroupVersionKind } from './predicates.ts';
export { packageNames, packageVersion, providedApis } from './provided.ts';
export { type Candidate, ConstraintError, type Requirement } from './requirement.ts';
export { expressionProblem } from './rule.ts';

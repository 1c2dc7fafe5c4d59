export { optionalChecks } from './checks.ts';
export { decodedKind } from './opm/opm-files.ts';
export {
  bundleMediaType,
  type OpmVerdict,
  type OpmVerdictOptions,
  opmVerdict,
} from './opm/opm-verdict.ts';
export { isError, type Problem, problemLine } from './problem.ts';
export {
  refusalsOf,
  renderedObjectProblems,
  type ValidateOptions,
  type Validation,
  validateBundle,
} from './validate-bundle.ts';

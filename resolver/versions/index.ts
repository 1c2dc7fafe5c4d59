export {
  constraintSteps,
  parseConstraint,
  satisfies,
  type VersionConstraint,
} from './constraint.ts';
export {
  type Condition,
  isInRange,
  parseRange,
  rangeProblem,
  rangeSteps,
  type VersionRange,
} from './range.ts';
export { compareReleases } from './release.ts';
export { parseTolerantVersion } from './tolerant-version.ts';
export {
  compareVersions,
  type Identifier,
  parseIdentifier,
  parseVersion,
  readVersion,
  type Version,
  VersionError,
  versionProblem,
  versionText,
  zeroVersion,
} from './version.ts';

import { comparisonSteps } from '../budget.ts';
import { type Comparator, type ComparatorOperator, parseComparators } from './comparator.ts';
import { compareVersions, type Version } from './version.ts';

/**
 * A range of OLM 1.0 (Masterminds/semver v3.2.1, neither npm's nor blang's): alternatives of
 * comparators that must all hold. A prerelease satisfies a comparator only if that comparator has
 * a prerelease itself, except for `!=` with a full version.
 */
export interface VersionConstraint {
  readonly alternatives: readonly (readonly Comparator[])[];
}

/**
 * Reads a constraint: `>=1.11, <1.13 || 2.x`.
 * @throws VersionError
 */
export function parseConstraint(text: string): VersionConstraint {
  return { alternatives: parseComparators(text) };
}

/** Steps of a check of a version, as a Budget counts them. */
export function constraintSteps({ alternatives }: VersionConstraint): number {
  return alternatives.reduce((sum, comparators) => sum + comparisonSteps * comparators.length, 1);
}

export function satisfies(version: Version, constraint: VersionConstraint): boolean {
  return constraint.alternatives.some((comparators) =>
    comparators.every((comparator) => holds(version, comparator)),
  );
}

function holds(version: Version, comparator: Comparator): boolean {
  const { operator, missing } = comparator;
  const isFullInequality = operator === '!=' && missing === undefined;
  const isRelease = version.prerelease.length === 0 || comparator.version.prerelease.length > 0;
  return (isRelease || isFullInequality) && checks[operator](version, comparator);
}

type Check = (version: Version, comparator: Comparator) => boolean;

const checks: Readonly<Record<ComparatorOperator, Check>> = {
  '=': (version, comparator) =>
    comparator.missing === undefined
      ? compareVersions(version, comparator.version) === 0
      : isNear(version, comparator),
  '!=': isOther,
  '>': isAbove,
  '<': (version, { version: limit }) => compareVersions(version, limit) < 0,
  '>=': (version, { version: limit }) => compareVersions(version, limit) >= 0,
  '<=': isAtMost,
  '~': isNear,
  '^': isCompatible,
};

/** Of a prerelease without patch, only the same prerelease is the same; as upstream has it. */
function isOther(version: Version, { version: excluded, missing }: Comparator): boolean {
  if (missing === 'minor') return version.major !== excluded.major;
  if (missing !== 'patch') return compareVersions(version, excluded) !== 0;
  if (version.major !== excluded.major || version.minor !== excluded.minor) return true;
  return compareVersions({ ...version, patch: 0n }, { ...excluded, patch: 0n }) !== 0;
}

/** `>1.11` begins at 1.12.0. */
function isAbove(version: Version, { version: limit, missing }: Comparator): boolean {
  if (missing === 'minor') return version.major > limit.major;
  if (missing !== 'patch') return compareVersions(version, limit) > 0;
  return version.major === limit.major ? version.minor > limit.minor : version.major > limit.major;
}

/** `<=1.12` ends before 1.13.0. */
function isAtMost(version: Version, { version: limit, missing }: Comparator): boolean {
  if (missing === undefined) return compareVersions(version, limit) <= 0;
  if (version.major !== limit.major) return version.major < limit.major;
  return missing === 'minor' || version.minor <= limit.minor;
}

/** The same major and minor; `~1` the same major; `~0.0.0` everything. */
function isNear(version: Version, { version: least, missing }: Comparator): boolean {
  if (compareVersions(version, least) < 0) return false;
  const isZero = least.major === 0n && least.minor === 0n && least.patch === 0n;
  if (isZero && (missing === undefined || missing === 'major')) return true;
  if (version.major !== least.major) return false;
  return missing === 'minor' || version.minor === least.minor;
}

/** No change of the leftmost number that is not 0. */
function isCompatible(version: Version, { version: least, missing }: Comparator): boolean {
  if (compareVersions(version, least) < 0) return false;
  if (version.major !== least.major) return false;
  if (least.major > 0n || missing === 'minor') return true;
  if (version.minor !== least.minor) return false;
  if (least.minor > 0n || missing === 'patch') return true;
  return version.patch === least.patch;
}

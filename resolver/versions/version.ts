import { goQuote } from '../../api/go-quote.ts';

/**
 * A version of catalog tools: strict semver 2 with blang/semver's texts; numbers up to 2^64 - 1.
 */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Numbers are `bigint`. */
  readonly prerelease: readonly Identifier[];
  /** Ignored in comparisons. */
  readonly build: readonly string[];
}

/** A part of a prerelease; any number is lower than any text. */
export type Identifier = bigint | string;

/** An invalid version, or range of versions; the message is that of Go's library. */
export class VersionError extends Error {
  override readonly name = 'VersionError';
}

/** The version of packages and entries without one. */
export const zeroVersion: Version = {
  major: 0n,
  minor: 0n,
  patch: 0n,
  prerelease: [],
  build: [],
};

const digits = /^[0-9]*$/;
const alphanumeric = /^[0-9A-Za-z-]*$/;
const largest = 2n ** 64n - 1n;

/** @throws VersionError */
export function parseVersion(text: string): Version {
  if (text === '') throw new VersionError('Version string empty');
  const [first, second, rest] = splitOnce(text, '.');
  if (rest === undefined || second === undefined) {
    throw new VersionError('No Major.Minor.Patch elements found');
  }
  const major = numberOf('major', first);
  const minor = numberOf('minor', second);
  const [beforeBuild, build] = cut(rest, '+');
  const [patchText, prerelease] = cut(beforeBuild, '-');
  const patch = numberOf('patch', patchText);
  return {
    major,
    minor,
    patch,
    prerelease: prerelease?.split('.').map(parseIdentifier) ?? [],
    build: build?.split('.').map(checkedBuild) ?? [],
  };
}

/** The version of a text; undefined for an invalid one. */
export function readVersion(text: string): Version | undefined {
  try {
    return parseVersion(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** Why a text is not a version; undefined for a valid one. */
export function versionProblem(text: string): string | undefined {
  try {
    parseVersion(text);
    return undefined;
  } catch (error) {
    if (error instanceof VersionError) return error.message;
    throw error;
  }
}

/**
 * Reads one part of a prerelease, or of a release.
 * @throws VersionError
 */
export function parseIdentifier(text: string): Identifier {
  if (text === '') throw new VersionError('Prerelease is empty');
  if (!digits.test(text)) {
    if (alphanumeric.test(text)) return text;
    throw new VersionError(`Invalid character(s) found in prerelease ${goQuote(text)}`);
  }
  if (hasLeadingZero(text)) {
    throw new VersionError(
      `Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`,
    );
  }
  return unsigned(text);
}

/** Negative if `a` is lower than `b`; ignores build metadata. */
export function compareVersions(a: Version, b: Version): number {
  return (
    compare(a.major, b.major) ||
    compare(a.minor, b.minor) ||
    compare(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  );
}

/** The version's text, with its build metadata. */
export function versionText(version: Version): string {
  const { major, minor, patch, prerelease, build } = version;
  const pre = prerelease.length === 0 ? '' : `-${prerelease.join('.')}`;
  return `${major}.${minor}.${patch}${pre}${build.length === 0 ? '' : `+${build.join('.')}`}`;
}

/** A version without prerelease is highest; a longer prerelease is above its own beginning. */
function comparePrereleases(a: readonly Identifier[], b: readonly Identifier[]): number {
  if (a.length === 0 || b.length === 0) return compare(b.length, a.length);
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return compare(a.length, b.length);
}

function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return compare(a, b);
}

function compare<T extends bigint | string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The parts before the first two separators, and the rest; undefined if there are fewer. */
function splitOnce(text: string, separator: string): [string, string?, string?] {
  const [first, rest] = cut(text, separator);
  return rest === undefined ? [first] : [first, ...cut(rest, separator)];
}

function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function numberOf(name: string, text: string): bigint {
  if (!digits.test(text)) {
    throw new VersionError(`Invalid character(s) found in ${name} number ${goQuote(text)}`);
  }
  if (hasLeadingZero(text)) {
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    throw new VersionError(`${title} number must not contain leading zeroes ${goQuote(text)}`);
  }
  return unsigned(text);
}

function unsigned(text: string): bigint {
  const number = text.length > 20 ? largest + 1n : BigInt(text);
  const problem = text === '' ? 'invalid syntax' : 'value out of range';
  if (text !== '' && number <= largest) return number;
  throw new VersionError(`strconv.ParseUint: parsing ${goQuote(text)}: ${problem}`);
}

function checkedBuild(text: string): string {
  if (text === '') throw new VersionError('Build meta data is empty');
  if (alphanumeric.test(text)) return text;
  throw new VersionError(`Invalid character(s) found in build meta data ${goQuote(text)}`);
}

function hasLeadingZero(text: string): boolean {
  return text.length > 1 && text.startsWith('0');
}

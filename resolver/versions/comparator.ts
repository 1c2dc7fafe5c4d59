import { type Identifier, type Version, VersionError, zeroVersion } from './version.ts';

/** One comparison of a constraint, such as `~1.2.x`. */
export interface Comparator {
  readonly operator: ComparatorOperator;
  /** With 0 for the numbers that the text leaves out. */
  readonly version: Version;
  /** The first number that the text leaves out. */
  readonly missing: 'major' | 'minor' | 'patch' | undefined;
}

export type ComparatorOperator = '=' | '!=' | '>' | '<' | '>=' | '<=' | '~' | '^';

/**
 * Maximum characters of a constraint. The field `version` of both kinds allows 64; searching for
 * ranges with a hyphen takes quadratic time.
 */
const longestConstraint = 4096;

/** The comparators of a constraint's text, with upstream's errors. */
export function parseComparators(text: string): readonly (readonly Comparator[])[] {
  if (text.length > longestConstraint) {
    throw new VersionError(
      `the version range has ${text.length} characters: the maximum is ${longestConstraint}`,
    );
  }
  return withoutHyphens(text).split('||').map(comparatorsOf);
}

// What Go's \s matches.
const isSpace = (character: string) => character !== '' && ' \t\n\f\r'.includes(character);

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charAt(at))) at += 1;
  return at;
}

const operators: readonly (readonly [string, ComparatorOperator])[] = [
  ['!=', '!='],
  ['>=', '>='],
  ['=>', '>='],
  ['<=', '<='],
  ['=<', '<='],
  ['~>', '~'],
  ['=', '='],
  ['>', '>'],
  ['<', '<'],
  ['~', '~'],
  ['^', '^'],
  ['', '='],
];

// A "|" is a digit here, by a typo of upstream's.
const number = '[0-9|xX*]+';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const versionPattern = new RegExp(
  `v?(${number})(\\.${number})?(\\.${number})?(-${identifiers})?(?:\\+${identifiers})?`,
  'y',
);

interface WrittenVersion {
  readonly end: number;
  readonly major: string;
  readonly minor: string;
  readonly patch: string;
  /** With its hyphen; empty for a release. */
  readonly prerelease: string;
}

/** The longest version at a position; its parts cannot be read in two ways. */
function versionAt(text: string, at: number): WrittenVersion | undefined {
  versionPattern.lastIndex = at;
  const match = versionPattern.exec(text);
  if (match === null) return undefined;
  const [all, major = '', minor = '', patch = '', prerelease = ''] = match;
  return {
    end: at + all.length,
    major,
    minor: minor.slice(1),
    patch: patch.slice(1),
    prerelease,
  };
}

function comparatorsOf(text: string): readonly Comparator[] {
  const improper = () => new VersionError(`improper constraint: ${text}`);
  const written: (readonly [ComparatorOperator, WrittenVersion])[] = [];
  let at = skipSpaces(text, 0);
  do {
    if (written.length > 0) at = afterSeparator(text, at) ?? fail(improper());
    const [sign, operator] = operators.find(([each]) => text.startsWith(each, at)) ?? ['', '='];
    const version = versionAt(text, skipSpaces(text, at + sign.length)) ?? fail(improper());
    written.push([operator, version]);
    at = version.end;
  } while (skipSpaces(text, at) < text.length);
  // Upstream checks the whole text before it reads a version.
  return written.map(([operator, version]) => comparatorOf(operator, version));
}

function fail(error: VersionError): never {
  throw error;
}

/** The position after spaces, or a comma with spaces around it; undefined without either. */
function afterSeparator(text: string, at: number): number | undefined {
  const next = skipSpaces(text, at);
  if (text.charAt(next) === ',') return skipSpaces(text, next + 1);
  return next === at ? undefined : next;
}

function comparatorOf(operator: ComparatorOperator, written: WrittenVersion): Comparator {
  const missing = missingPart(written);
  const prerelease = prereleaseOf(written.prerelease);
  if (missing === 'major') return { operator, version: { ...zeroVersion, prerelease }, missing };
  const major = numberOf(written.major);
  const minor = missing === 'minor' ? 0n : numberOf(written.minor);
  const patch = missing === undefined ? numberOf(written.patch) : 0n;
  return { operator, version: { major, minor, patch, prerelease, build: [] }, missing };
}

const isAny = (part: string) => part === '' || part === 'x' || part === 'X' || part === '*';

function missingPart({ major, minor, patch }: WrittenVersion): Comparator['missing'] {
  if (isAny(major)) return 'major';
  if (isAny(minor)) return 'minor';
  return isAny(patch) ? 'patch' : undefined;
}

const largest = 2n ** 64n - 1n;

function numberOf(text: string): bigint {
  const value = /^[0-9]+$/.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value > largest) throw new VersionError('constraint Parser Error');
  return value;
}

function prereleaseOf(text: string): readonly Identifier[] {
  return text === '' ? [] : text.slice(1).split('.').map(identifierOf);
}

/** Numbers above 64 bits are compared as texts. */
function identifierOf(text: string): Identifier {
  if (!/^[0-9]+$/.test(text)) return text;
  if (text.length > 1 && text.startsWith('0')) throw new VersionError('constraint Parser Error');
  const value = BigInt(text);
  return value > largest ? text : value;
}

/** `1.0 - 2.0` as `>= 1.0, <= 2.0 `, as upstream rewrites a text before it reads it. */
function withoutHyphens(text: string): string {
  let rewritten = text;
  let from = 0;
  for (;;) {
    const found = hyphenRange(text, from);
    if (found === undefined) return rewritten;
    const { start, end, least, most } = found;
    // A function, since "$&" in a replacement has a meaning.
    rewritten = rewritten.replace(text.slice(start, end), () => `>= ${least}, <= ${most} `);
    from = end;
  }
}

interface HyphenRange {
  readonly start: number;
  readonly end: number;
  readonly least: string;
  readonly most: string;
}

function hyphenRange(text: string, from: number): HyphenRange | undefined {
  for (let start = from; start < text.length; start += 1) {
    const first = skipSpaces(text, start);
    const least = versionAt(text, first);
    const second = least && afterHyphen(text, least.end);
    const most = second === undefined ? undefined : versionAt(text, second);
    if (least === undefined || second === undefined || most === undefined) continue;
    return {
      start,
      end: skipSpaces(text, most.end),
      least: text.slice(first, least.end),
      most: text.slice(second, most.end),
    };
  }
  return undefined;
}

/** The position after a hyphen between spaces. */
function afterHyphen(text: string, at: number): number | undefined {
  const hyphen = skipSpaces(text, at);
  const next = skipSpaces(text, hyphen + 1);
  const isHyphen = text.charAt(hyphen) === '-';
  return isHyphen && hyphen > at && next > hyphen + 1 ? next : undefined;
}

import { goQuote } from '../../api/go-quote.ts';
import { comparisonSteps } from '../budget.ts';
import { compareVersions, parseVersion, type Version, VersionError } from './version.ts';

/** One comparison of a range, such as `>=1.0.0`. */
export interface Condition {
  readonly operator: Operator;
  readonly version: Version;
}

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/**
 * A range of catalog tools (blang/semver, not npm's): alternatives of conditions that must all be
 * true. No `^`, no `~`, and prereleases are versions like any other.
 */
export interface VersionRange {
  readonly alternatives: readonly (readonly Condition[])[];
}

/**
 * Reads a range: `>=1.0.0 <2.0.0 || 3.x`.
 * @throws VersionError
 */
export function parseRange(text: string): VersionRange {
  const alternatives = alternativesOf(words(text));
  const expanded = alternatives.map((parts) => parts.flatMap(withoutWildcards));
  return { alternatives: expanded.map((parts) => parts.map(conditionOf)) };
}

/** Why a text is not a range; undefined for a valid one. */
export function rangeProblem(text: string): string | undefined {
  try {
    parseRange(text);
    return undefined;
  } catch (error) {
    if (error instanceof VersionError) return error.message;
    throw error;
  }
}

/** Steps of a comparison of a version with the range, as a Budget counts them. */
export function rangeSteps({ alternatives }: VersionRange): number {
  return alternatives.reduce((sum, conditions) => sum + comparisonSteps * conditions.length, 1);
}

export function isInRange(version: Version, range: VersionRange): boolean {
  // An alternative without conditions ("1.x || || 2.x") matches nothing.
  return range.alternatives.some(
    (conditions) =>
      conditions.length > 0 &&
      conditions.every(({ operator, version: limit }) =>
        holds[operator](compareVersions(version, limit)),
      ),
  );
}

const holds: Readonly<Record<Operator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const operators: ReadonlyMap<string, Operator> = new Map([
  ['', '='],
  ['=', '='],
  ['==', '='],
  ['!', '!='],
  ['!=', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

/** A space after an operator does not separate words, and words of one byte are skipped. */
function words(text: string): readonly string[] {
  const found: string[] = [];
  let start = 0;
  let last = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === ' ' && !'<>='.includes(last || '-')) {
      found.push(text.slice(start, at));
      start = at + 1;
    } else if (character !== ' ') {
      last = character;
    }
  }
  found.push(text.slice(start));
  const words = found.filter((word) => Buffer.byteLength(word) > 1);
  return words.map((word) => word.replaceAll(' ', ''));
}

function alternativesOf(parts: readonly string[]): readonly (readonly string[])[] {
  if (parts[0] === '||') throw new VersionError("First element in range is '||'");
  if (parts.length === 0 || parts.at(-1) === '||') {
    throw new VersionError("Last element in range is '||'");
  }
  const alternatives: string[][] = [[]];
  for (const part of parts) {
    if (part === '||') alternatives.push([]);
    else alternatives.at(-1)?.push(part);
  }
  return alternatives;
}

interface Comparison {
  readonly operator: string;
  readonly version: string;
}

function comparisonOf(part: string): Comparison {
  const at = part.search(/\p{Nd}/u);
  if (at === -1) throw new VersionError(`Could not get version from string: ${goQuote(part)}`);
  return { operator: part.slice(0, at).trim(), version: part.slice(at) };
}

/** `1.2.x` as two conditions, others unchanged. */
function withoutWildcards(part: string): readonly string[] {
  if (!part.includes('x')) return [part];
  const { operator, version } = comparisonOf(part);
  const least = version.replace('.x.x', '.x').replace('.x', '.0');
  const flat = least.split('.').length === 2 ? `${least}.0` : least;
  const next = following(version, flat);
  // Unknown operators lose their sign here, and so become equality.
  return widened[operators.get(operator) ?? '?'](flat, next);
}

const widened: Readonly<Record<Operator | '?', (least: string, next: string) => string[]>> = {
  '>': (_, next) => [`>=${next}`],
  '>=': (least) => [`>=${least}`],
  '<': (least) => [`<${least}`],
  '<=': (_, next) => [`<${next}`],
  '=': (least, next) => [`>=${least}`, `<${next}`],
  '!=': (least, next) => [`<${least}`, `>=${next}`],
  '?': (least) => [least],
};

/** The first version after all that a wildcard matches; empty for an invalid wildcard. */
function following(wildcard: string, flat: string): string {
  const parts = wildcard.split('.');
  const numbers = flat.split('.');
  if (parts.at(-1) !== 'x' || parts.length < 2 || parts.length > 3) return '';
  const at = parts.length - 2;
  // Upstream ignores the error.
  const next = incremented(numbers[at] ?? '');
  if (next === undefined) return '';
  return numbers.map((number, index) => (index === at ? next : number)).join('.');
}

/** As Go adds 1 to a signed number of 64 bits; undefined for other texts. */
function incremented(text: string): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  // BigInt reads no "+", and texts of a megabyte slowly.
  const number = text.length > 1000 ? 2n ** 64n : BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, number) !== number) return undefined;
  return String(BigInt.asIntN(64, number + 1n));
}

function conditionOf(part: string): Condition {
  const { operator, version } = comparisonOf(part);
  const known = operators.get(operator);
  const problem = (text: string) =>
    new VersionError(`Could not parse Range ${goQuote(part)}: ${text}`);
  const joined = goQuote(`${operator}${version}`);
  if (known === undefined) {
    throw problem(`Could not parse comparator ${goQuote(operator)} in ${joined}`);
  }
  try {
    return { operator: known, version: parseVersion(version) };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw problem(`Could not parse version ${goQuote(version)} in ${joined}: ${error.message}`);
  }
}

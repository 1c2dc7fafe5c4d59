// @module-tag long
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  isInRange,
  parseConstraint,
  parseRange,
  parseTolerantVersion,
  parseVersion,
  satisfies,
  type Version,
  VersionError,
  versionText,
} from '../../resolver/versions/index.ts';
import { askReference, goReference } from '../helpers/go-reference.ts';
import { seededRandom } from '../helpers/seeded-random.ts';

// blang/semver v4.0.0 and Masterminds/semver v3.2.1 are the truth.
let program: string;

beforeAll(async () => {
  program = await goReference(join(import.meta.dirname, 'version-reference'));
});

interface Answer {
  readonly version?: string;
  readonly matches?: string;
  readonly error?: string;
}

const seed = 20_240_615;
const random = seededRandom(seed);

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function several(least: number, most: number, make: () => string): readonly string[] {
  const count = least + Math.floor(random() * (most - least + 1));
  return Array.from({ length: count }, make);
}

const numbers = [
  '0',
  '1',
  '2',
  '3',
  '10',
  '11',
  '12',
  '9223372036854775807',
  '18446744073709551615',
];
const oddNumbers = [
  '01',
  '-1',
  '+1',
  '00',
  '',
  'x',
  'X',
  '*',
  '|',
  '1x',
  'v1',
  '18446744073709551616',
  'é',
];
const identifiers = ['rc', '1', '2', '10', 'alpha', 'x', 'a-b', '-', '0', '99999999999999999999'];
const oddIdentifiers = ['01', '', 'a_b', '*'];

/** `oddity` of 0 makes valid versions only. */
function version(oddity: number): string {
  const isOdd = () => random() < oddity;
  const count = isOdd() ? pick([1, 2, 2, 4]) : 3;
  const parts = Array.from({ length: count }, () => pick(isOdd() ? oddNumbers : numbers));
  const some = () =>
    several(1, 3, () => pick(isOdd() ? oddIdentifiers : identifiers.slice(0, -1))).join('.');
  const prerelease = random() < 0.35 ? `-${some()}` : '';
  const build = random() < 0.15 ? `+${some()}` : '';
  return `${isOdd() ? pick(['v', ' ', '']) : ''}${parts.join('.')}${prerelease}${build}`;
}

/** A version whose last numbers may be left out, or wildcards. */
function partial(): string {
  const parts = several(1, 3, () => pick([...numbers, 'x', '*', 'X']));
  const prerelease = random() < 0.2 ? `-${pick(identifiers)}` : '';
  return `${random() < 0.1 ? 'v' : ''}${parts.join('.')}${prerelease}`;
}

const odd = {
  operators: ['', '', '=', '!=', '>', '<', '>=', '=>', '<=', '=<', '~', '~>', '^', '==', '!'],
  separators: [' ', ' ', ', ', ',', ' || ', '||', '  ', ' - ', '\t', '\v', ',,', '|'],
  version: () => (random() < 0.5 ? partial() : version(0.05)),
};

/** What each kind of range can be made of without an error. */
const valid = {
  range: {
    operators: ['', '=', '==', '!', '!=', '>', '<', '>=', '<='],
    separators: [' ', '  ', ' || '],
    version: () => (random() < 0.3 ? pick(['1.x', '2.x', '1.11.x', '0.0.x']) : version(0)),
  },
  constraint: {
    operators: ['', '=', '!=', '>', '<', '>=', '=>', '<=', '=<', '~', '~>', '^'],
    separators: [' ', ', ', ',', ' || ', '||', ' - '],
    version: () => (random() < 0.5 ? partial() : version(0)),
  },
};

function range(kind: keyof typeof valid): string {
  const parts = random() < 0.6 ? valid[kind] : odd;
  const comparisons = several(1, 4, () => {
    const blank = random() < 0.1 ? pick([' ', '  ', '\n']) : '';
    return `${pick(parts.operators)}${blank}${parts.version()}`;
  });
  const joined = comparisons.reduce((text, next) => `${text}${pick(parts.separators)}${next}`);
  return random() < 0.05 ? `${joined}${pick([' ', ' ||', '-', ',', '\n'])}` : joined;
}

const candidates =
  '0.0.0 0.0.1 0.1.0 1.0.0 1.1.0 1.11.0 2.0.0 2.0.0-rc.1 12.10.3 1.0.0-1 1.0.0-a.b 1.0.0+b 0.0.0-0'.split(
    ' ',
  );

function ours(read: () => Answer): Answer {
  try {
    return read();
  } catch (error) {
    if (error instanceof VersionError) return { error: error.message };
    throw error;
  }
}

function matches(versions: readonly string[], isMatch: (version: Version) => boolean): Answer {
  return { matches: versions.map((text) => Number(isMatch(parseVersion(text)))).join('') };
}

test.each([
  ['version', parseVersion],
  ['tolerant', parseTolerantVersion],
] as const)('texts are read as %s as blang reads them', async (kind, parse) => {
  const questions = several(10_000, 10_000, () => version(0.3)).map((text) => ({ kind, text }));
  const theirs = await askReference<Answer>(program, questions);
  const answers = questions.map(({ text }) => ours(() => ({ version: versionText(parse(text)) })));
  const different = questions.flatMap((question, at) =>
    answers[at]?.version === theirs[at]?.version && answers[at]?.error === theirs[at]?.error
      ? []
      : [{ ...question, ours: answers[at], theirs: theirs[at] }],
  );
  expect(different, `seed ${seed}`).toEqual([]);
  expect(theirs.filter(({ error }) => error === undefined).length).toBeGreaterThan(1000);
});

test.each([
  ['range', rangeMatches],
  ['constraint', constraintMatches],
] as const)('a %s allows the same versions, or has the same error', async (kind, judge) => {
  const questions = several(20_000, 20_000, () => range(kind)).map((text) => {
    const versions = [...candidates, ...several(5, 5, () => version(0))];
    return { kind, text, versions };
  });
  const theirs = await askReference<Answer>(program, questions);
  const different = questions.flatMap(({ text, versions }, at) => {
    const answer = ours(() => judge(text, versions));
    const isSame = answer.matches === theirs[at]?.matches && answer.error === theirs[at]?.error;
    return isSame ? [] : [{ text, versions, ours: answer, theirs: theirs[at] }];
  });
  expect(different, `seed ${seed}`).toEqual([]);
  expect(theirs.filter((each) => each.matches?.includes('1')).length).toBeGreaterThan(4000);
});

function rangeMatches(text: string, versions: readonly string[]): Answer {
  const parsed = parseRange(text);
  return matches(versions, (each) => isInRange(each, parsed));
}

function constraintMatches(text: string, versions: readonly string[]): Answer {
  const parsed = parseConstraint(text);
  return matches(versions, (each) => satisfies(each, parsed));
}

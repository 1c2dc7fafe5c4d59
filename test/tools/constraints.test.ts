// @module-tag long
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Property } from '../../resolver/candidates/index.ts';
import { ConstraintError, constraintsOf } from '../../resolver/constraints/index.ts';
import { parseVersion } from '../../resolver/versions/index.ts';
import { askReference, goReference } from '../helpers/go-reference.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { Generator } from './constraint-reference/generated-rules.ts';

// The resolver of OLM v0.46.0, with operator-framework/api v0.45.0 and cel-go, is the truth.
let program: string;

beforeAll(async () => {
  program = await goReference(join(import.meta.dirname, 'constraint-reference'));
});

interface AskedCandidate {
  readonly package: string;
  readonly version: string;
  readonly properties: readonly Property[];
}

interface Question {
  readonly properties: readonly Property[];
  readonly candidates: readonly AskedCandidate[];
}

interface Answer {
  readonly error?: string;
  /** Null beside an error. */
  readonly requirements:
    | readonly { readonly text: string; readonly met: readonly boolean[] }[]
    | null;
}

const seed = 20_240_711;

function ask(make: (generator: Generator) => Property, count: number): readonly Question[] {
  const generator = new Generator(seededRandom(seed));
  return Array.from({ length: count }, () => ({
    properties: [make(generator)],
    candidates: Array.from({ length: 4 }, () => ({
      package: generator.pick(['blue', 'red', 'green']),
      version: generator.pick(['1.2.1', '1.5.0', '2.0.0-rc.1', '']),
      properties: generator.several(5, () => generator.property()),
    })),
  }));
}

function answerOf({ properties, candidates }: Question): Answer {
  try {
    const requirements = constraintsOf(properties).map(({ text, isMetBy, refusal }) => ({
      text,
      met: candidates.map((each) => {
        const version = each.version === '' ? undefined : parseVersion(each.version);
        const candidate = { packageName: each.package, version, properties: each.properties };
        expect(refusal(candidate)).toBeUndefined();
        return isMetBy(candidate);
      }),
    }));
    return { requirements };
  } catch (error) {
    if (error instanceof ConstraintError) return { error: error.message, requirements: null };
    throw error;
  }
}

/** Names and numbers that begin with a dot, which the parser does not read. */
function isUnsupported({ error = '' }: Answer): boolean {
  return error.includes('Syntax error: Unexpected token: DOT');
}

const syntaxError = /ERROR: <input>:\d+:\d+: (?:Syntax error|unsupported|reserved|invalid|unable)/;

/**
 * Problems of syntax have texts of the parser, and may hide others; the numbers of type variables
 * differ in cel-go from run to run.
 */
function comparable({ error, requirements }: Answer): string {
  if (error === undefined) return JSON.stringify(requirements);
  return syntaxError.test(error) ? 'syntax error' : error.replaceAll(/_var\d+/g, '_var');
}

test.each([
  [
    'rules over mixed values',
    15_000,
    (generator: Generator) => ({
      type: 'olm.constraint',
      value: { cel: { rule: generator.rule() }, failureMessage: generator.pick(['', 'need "x"']) },
    }),
  ],
  [
    'compound constraints',
    6_000,
    (generator: Generator) => ({ type: 'olm.constraint', value: generator.constraint() }),
  ],
  [
    'required APIs, packages and labels',
    4_000,
    (generator: Generator) => ({
      type: generator.pick(['olm.gvk.required', 'olm.package.required', 'olm.label.required']),
      value: {
        ...generator.pick([
          { group: 'g.example.com', version: 'v1', kind: 'G', label: 'dark' },
          { packageName: 'blue', versionRange: '>=1.0.0', Label: 'dark' },
          { PACKAGENAME: 'red', versionrange: '1.x', label: null },
        ]),
        ...(generator.chance(0.2) ? (generator.value(1) as object) : {}),
        ...(generator.chance(0.2) ? { versionRange: generator.value(0) } : {}),
      },
    }),
  ],
])('%s are met by the same bundles, or have the same error', async (_, count, make) => {
  const questions = ask(make, count);
  const theirs = await askReference<Answer>(program, questions);
  const different = questions.flatMap((question, at) => {
    const pair = { ours: answerOf(question), theirs: theirs[at] as Answer };
    const same = comparable(pair.ours) === comparable(pair.theirs) || isUnsupported(pair.ours);
    return same ? [] : [JSON.stringify({ ...pair, ...question })];
  });
  expect(different.slice(0, 5), `seed ${seed}, ${different.length} differ`).toEqual([]);
  const met = theirs.filter(({ requirements }) => requirements?.[0]?.met.includes(true));
  const invalid = theirs.filter(({ error }) => error !== undefined);
  expect(met.length).toBeGreaterThan(count / 20);
  expect(invalid.length).toBeGreaterThan(count / 20);
});

const mixed: readonly Property[] = [
  { type: 'a', value: null },
  { type: 'n', value: 5 },
  { type: 's', value: 'x' },
  { type: 'l', value: [1, 'b', { c: 1 }] },
  { type: 'm', value: { k: { z: 1 }, type: 3 } },
];

test('rules with every function, operator and macro have the same answer', async () => {
  const file = join(import.meta.dirname, 'constraint-reference/rules.txt');
  const rules = readFileSync(file, 'utf8').trim().split('\n');
  const questions = rules.map((rule) => ({
    properties: [{ type: 'olm.constraint', value: { cel: { rule } } }],
    candidates: [{ package: 'p', version: '1.0.0', properties: mixed }],
  }));
  const theirs = await askReference<Answer>(program, questions);
  const different = rules.flatMap((rule, at) => {
    const pair = { ours: answerOf(questions[at] as Question), theirs: theirs[at] as Answer };
    const same = comparable(pair.ours) === comparable(pair.theirs) || isUnsupported(pair.ours);
    return same ? [] : [{ rule, ...pair }];
  });
  expect(different).toEqual([]);
  expect(rules.length).toBeGreaterThan(200);
});

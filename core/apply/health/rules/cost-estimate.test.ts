import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../../../test/helpers/cpu-time.ts';
import { compileExpression, ruleProblem } from './custom-rule.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function costOf(text: string): number {
  return compileExpression(text).cost;
}

function problemOf(healthy: string): string | undefined {
  return ruleProblem({ kind: 'ConfigMap', healthy }, 0);
}

/** Binds a value to a name, and that name to the next, `times` times. */
function bound(value: string, body: (name: string) => string, times: number): string {
  let text = value;
  for (let time = 0; time < times; time += 1) text = `cel.bind(v, ${text}, ${body('v')})`;
  return text;
}

/** A text of `self` that is 2^times as long. */
function doubled(times: number, text = 'self.text'): string {
  return bound(text, (name) => `${name} + ${name}`, times);
}

function loops(depth: number): string {
  let text = 'true';
  for (let loop = 0; loop < depth; loop += 1) text = `self.x.all(v${loop}, ${text})`;
  return text;
}

describe('the cost of an expression', () => {
  test.each([
    ['true', 0],
    ['self.status.ready == self.spec.replicas', 110],
    ["self.a.startsWith('b')", 3 + 100],
  ])('%s', (text, most) => {
    expect(costOf(text)).toBeLessThanOrEqual(most);
  });

  test('one loop inside of another multiplies', () => {
    const [one, two, three] = [1, 2, 3].map((depth) => costOf(loops(depth))) as [
      number,
      number,
      number,
    ];
    expect(two).toBeGreaterThan(one * 90);
    expect(three).toBeGreaterThan(two * 90);
  });

  test('doubling a text costs its length', () => {
    expect(costOf(doubled(20))).toBeGreaterThan(100 * 2 ** 20);
    expect(costOf(doubled(12))).toBeLessThan(10_000_000);
  });

  test.each([
    ['a list literal', "['a', 'b'].all(x, x == 'a')", "['a', 'b', 'c', 'd'].all(x, x == 'a')"],
    ['a text literal', "'abc'.matches('a')", `'${'abc'.repeat(50)}'.matches('a')`],
    ['what was split', "'a'.split('').all(x, true)", "'abcdefgh'.split('').all(x, true)"],
    ['what was mapped', "[1].map(x, 'a')[0] + 'b'", `[1].map(x, '${'a'.repeat(80)}')[0] + 'b'`],
    ['what was joined', "['a'].join('')  + 'b'", `['${'a'.repeat(80)}'].join('') + 'b'`],
    ['what was filtered', '[1].filter(x, true) + [1]', '[1, 2, 3].filter(x, true) + [1]'],
    ['a choice', "(true ? 'a' : 'b') + 'c'", `(true ? 'a' : '${'b'.repeat(80)}') + 'c'`],
    ['a default', "'ab'.split('b') == ['a']", 'self.?x.orValue([]) == self.?y.orValue([])'],
  ])('the larger %s the dearer', (_, small, large) => {
    expect(costOf(large)).toBeGreaterThan(costOf(small));
  });
});

describe('rules that people write', () => {
  test.each([
    'self.status.ready == self.spec.replicas',
    "has(self.status) && self.status.phase in ['Running', 'Succeeded']",
    "self.?status.conditions.orValue([]).exists(c, c.type == 'Up' && c.status == 'True')",
    'self.status.pods.all(p, p.containers.all(c, c.ready))',
    "self.spec.names.all(n, self.status.found.exists(f, f.name == n && f.phase == 'Up'))",
    "self.metadata.name.matches('^[a-z0-9-]+$') && !self.metadata.annotations['x'].contains('y')",
    "self.status.hosts.map(h, h + ':' + string(self.spec.port)).join(', ').size() < 100",
    "timestamp(self.status.since) + duration('5m') > timestamp(self.status.seen)",
  ])('%s is cheap enough', (text) => {
    expect(problemOf(text)).toBeUndefined();
  });
});

describe('bombs are refused by their estimate', () => {
  test.each([
    [
      'four loops',
      'self.x.all(a, self.x.all(b, self.x.all(c, self.x.all(d, a + b + c + d >= 0.0))))',
    ],
    ['a text that is split into its characters', `${doubled(20)}.split('').size() > 0`],
    ['bytes of a long text', `bytes(${doubled(20)}).size() > 0`],
    ['long texts that are compared', `${doubled(20)} == ${doubled(20)} + 'a'`],
    ['a literal that grows', `${doubled(30, "'ab'")}.contains('c')`],
    ['a search for one long text in another', `${doubled(9)}.contains(${doubled(8)})`],
    ['lists in lists', 'self.x.map(a, self.x.map(b, self.x.map(c, a + b + c))).size() > 0'],
    ['a list that doubles', `${bound('self.x', (name) => `${name} + ${name}`, 20)}.size() > 0`],
    ['a list that is joined', `${bound('self.x', (x) => `${x} + ${x}`, 12)}.join(self.text) != ''`],
  ])('%s', (_, text) => {
    expect(problemOf(text)).toMatch(
      /^spec\.health\.rules\[0\]\.healthy is too expensive: its estimated cost of [0-9.e+]+ exceeds the limit of 10000000\. /,
    );
  });

  test('the message is one sentence with the estimate and the way out', () => {
    expect(problemOf(loops(4))).toBe(
      'spec.health.rules[0].healthy is too expensive: its estimated cost of 104040403 exceeds the limit of 10000000. Use fewer lists inside of lists, and shorter texts',
    );
  });
});

describe('reading an expression takes no time either', () => {
  test.each([
    ['nots', `${'!'.repeat(4_000)}true`],
    ['sums', Array.from({ length: 2_000 }, () => '1').join('+')],
    ['loops', loops(60)],
    ['brackets', `${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ['parts', `self${'.a'.repeat(2_000)}`],
    ['choices', `${'true ? 1 : '.repeat(370)}1`],
    ['names', bound('self', (name) => name, 60)],
    ['texts', `'${'a'.repeat(4_090)}'`],
    ['what is too long', `'${'a'.repeat(100_000)}'`],
  ])('of %s', (_, text) => {
    const start = cpuTime();
    problemOf(text);
    expect(cpuTime() - start).toBeLessThan(500);
  });

  test('types that expressions make up are not kept', () => {
    const before = heapAfter(100);
    expect(heapAfter(600) - before).toBeLessThan(2 * 1024 * 1024);
  });
});

test.each([
  ['[[[[1]]]] == []', 'it nests lists, maps and optionals more than 3 deep'],
  [
    "[1].map(a, [1].map(b, {'a': [b]})) == []",
    'it nests lists, maps and optionals more than 3 deep',
  ],
  [bound('[1]', (name) => `[${name}]`, 3), 'it nests lists, maps and optionals more than 3 deep'],
  [
    bound("{'a': 1}", (name) => `{'a': ${name}, 'b': ${name}}`, 26),
    'it nests lists, maps and optionals more than 3 deep',
  ],
  ['{[1]: 2} == {}', 'a map key must not be a list or map'],
])('%s is refused', (text, problem) => {
  expect(problemOf(text)).toBe(
    `spec.health.rules[0].healthy is not a valid CEL expression over self: ${problem}`,
  );
});

/** Heap used after reading that many expressions of different types. */
function heapAfter(count: number): number {
  for (let number = 0; number < count; number += 1) {
    let text = '1';
    for (let bit = 0; bit < 24; bit += 1) {
      text = (number >> (bit % 11)) % 2 === 0 ? `[${text}]` : `{'a': ${text}}`;
    }
    problemOf(`${text} == 1`);
  }
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

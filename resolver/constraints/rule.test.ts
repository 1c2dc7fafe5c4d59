import { describe, expect, it } from 'vitest';
import type { Property } from '../candidates/index.ts';
import { type Candidate, ConstraintError, constraintsOf } from './index.ts';

const mixed: readonly Property[] = [
  { type: 'nothing', value: null },
  { type: 'number', value: 5 },
  { type: 'text', value: 'x' },
  { type: 'list', value: [1, 'b', { c: 1.5 }] },
  { type: 'map', value: { version: 'v1.2', type: 3, nested: { z: 1 }, __proto__: 1 } },
  { type: 'olm.package', value: { packageName: 'blue', version: '1.2.3' } },
];

function ruleOf(rule: string, failureMessage = '') {
  const value = { failureMessage, cel: { rule } };
  const [requirement] = constraintsOf([{ type: 'olm.constraint', value }]);
  if (requirement === undefined) throw new Error('no requirement');
  return requirement;
}

function candidate(properties: readonly Property[]): Candidate {
  return { packageName: 'p', version: undefined, properties };
}

const isMet = (rule: string, properties = mixed) => ruleOf(rule).isMetBy(candidate(properties));

describe('a rule', () => {
  it('has a text with itself and its message', () => {
    const rule = 'properties.exists(p, p.type == "certified")';
    const { text, failureMessage } = ruleOf(rule, 'require to have "certified"');
    expect(text).toBe(
      'with constraint: "properties.exists(p, p.type == \\"certified\\")" and message: "require to have \\"certified\\""',
    );
    expect(failureMessage).toBe('require to have "certified"');
  });

  // Recorded from OLM v0.46.0, as what follows.
  it.each([
    'properties.exists(p, p.type == "number" && p.value == 5)',
    'properties.exists(p, p.value > 3)',
    'properties.exists(p, type(p.value) == double)',
    'properties.exists(p, p.value.nested.z == 1)',
    'properties.exists(p, p["value"]["version"] == "v1.2")',
    'properties.exists(p, has(p.value.nested))',
    'properties.exists_one(p, has(p.value) && p.type == "text")',
    'properties.filter(p, p.type == "text").size() == 1',
    'properties.map(p, p.type == "number", p.value)[0] > 3',
    'properties.all(p, p.value > 3 || true)',
    'properties[1].value == 5u && properties[1].value + 1.0 == 6.0',
    'properties[3].value[2].c == 1.5',
    '!(properties[1].value == "x")',
    'dyn({"x": [1, {"y": 2}]}) == {"x": [1.0, {"y": 2u}]}',
    '"\\U0001F600" > "\\uFFFD" && "\\U0001F600".size() == 1',
    '-9223372036854775808 < 0 && 5 % -3 == 2 && -5 / 2 == -2',
    'string(1000000.0) == "1e+06" && int(-3.7) == -3',
    '"aé\\n".matches("^a.\\\\s$") && matches("abc", "(?i)B")',
    'timestamp("2020-06-01T00:00:00Z").getHours("America/New_York") == 20',
    'string(timestamp("2020-01-01T00:00:00.5+02:00")) == "2020-01-01T00:00:00.5+02:00"',
    'string(duration("1h30m0.25s")) == "5400.25s"',
    'semver_compare("v1.2", "1.2.0+build") == 0',
    'semver_compare(1.5, "1.5.0") == 0 && semver_compare(5u, 5) == 0',
    'semver_compare("1.0.0-1", "1.0.0") < 0',
    'properties.exists(p, semver_compare(p.value.version, "1.2.3") == 0)',
  ])('%s is met', (rule) => {
    expect(isMet(rule)).toBe(true);
  });

  it.each([
    'properties.exists(p, p.typ == "number")',
    '!properties.exists(p, p.typ == "number")',
    '!(semver_compare("red", "1.0.0") == 0)',
    'properties.all(p, p.value > 3)',
    'properties[1].value + 1 == 6',
    'properties.exists(p, p.type == "list" && !has(p.value.k))',
    'properties.exists(p, p.type == "map" && has(p.value.toString))',
    '9223372036854775807 + 1 > 0',
    '5u - 6u == 0u',
    '1 / 0 == 1 || false',
    '{"a": 1, "a": 2}.a == 1',
    '[][0] == 1',
    '"abc".matches("(")',
    'double("NaN") < 1.0',
    'int("0x10") == 16',
    'properties[0].value.x == 1',
  ])('%s is not met', (rule) => {
    expect(isMet(rule)).toBe(false);
    expect(ruleOf(rule).refusal(candidate(mixed))).toBeUndefined();
  });

  it.each([
    [
      'x == 1',
      "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x == 1\n | ^",
    ],
    [
      '"é" == 1 + "a"',
      'ERROR: <input>:1:10: found no matching overload for \'_+_\' applied to \'(int, string)\'\n | "é" == 1 + "a"\n | .．.......^',
    ],
    [
      'true &&\n(1) . size()',
      "ERROR: <input>:2:11: found no matching overload for 'size' applied to 'int.()'\n | (1) . size()\n | ..........^",
    ],
    [
      'properties.exists(p, p.value.exists(x, y))',
      "ERROR: <input>:1:23: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)\n | properties.exists(p, p.value.exists(x, y))\n | ......................^\nERROR: <input>:1:40: undeclared reference to 'y' (in container '')\n | properties.exists(p, p.value.exists(x, y))\n | .......................................^",
    ],
    ['properties[0].value', 'cel expressions must have type Bool'],
    ['1', 'cel expressions must have type Bool'],
  ])('%j is refused in the words of cel-go', (rule, message) => {
    expect(() => ruleOf(rule)).toThrow(
      new ConstraintError(`convert olm.constraint to resolver predicate: ${message}`),
    );
  });

  it.each([
    '',
    '"a',
    'properties.?x',
    '"abc".lowerAscii() == "abc"',
    'cel.bind(x, 1, x == 1)',
    'properties.existsOne(p, true)',
    'semver_compare("1") == 1',
    'size([1],) == 1',
    'self == 1',
    '1 < 1.0',
  ])('%j is refused: no extensions, no other variables', (rule) => {
    expect(() => ruleOf(rule)).toThrow(/^convert olm.constraint to resolver predicate: ERROR: /);
  });

  it('in a compound constraint has its message there', () => {
    const cel = { cel: { rule: 'properties.exists(p, p.type == "a")' }, failureMessage: 'inner' };
    const value = { failureMessage: 'outer', not: { constraints: [cel] } };
    const [requirement] = constraintsOf([{ type: 'olm.constraint', value }]);
    expect(requirement?.text).toContain('and message: "inner"');
    expect(requirement?.failureMessage).toBe('outer');
    expect(requirement?.isMetBy(candidate(mixed))).toBe(true);
  });
});

const doubling = '.map(x, x + x)'.repeat(60);
const long = 'a'.repeat(1_000_000);

describe('a rule of a stranger', () => {
  it.each([
    ['lists inside of lists', 'properties.all(p, properties.all(q, p.type == q.type))'],
    ['texts that double', `["text"]${doubling} == []`],
    ['lists that double', `[["text"]]${doubling} == []`],
    [
      'a search for a long text',
      `properties.exists(p, p.value.contains("${'a'.repeat(60_000)}b"))`,
    ],
    ['a pattern that goes back', 'properties.exists(p, p.value.matches("(a|aa)+(a|aa)+b"))'],
    ['a pattern that is large', '"a".matches("((a{100}){100}){100}")'],
  ])('with %s is refused with one sentence, and is not met', (_, rule) => {
    const many = Array.from({ length: 1_000 }, () => ({ type: 'a', value: long }));
    const { isMetBy, refusal } = ruleOf(rule);
    expect(refusal(candidate(many))).toMatch(/^(the expression takes|a pattern of).*: use .*\w$/);
    expect(isMetBy(candidate(many))).toBe(false);
    const value = { not: { constraints: [{ cel: { rule } }] } };
    const [negated] = constraintsOf([{ type: 'olm.constraint', value }]);
    expect(negated?.isMetBy(candidate(many))).toBe(false);
  });

  it('reads a value of a megabyte', () => {
    const large = [{ type: 'a', value: { long } }];
    expect(isMet('properties.exists(p, p.value.long.size() == 1000000)', large)).toBe(true);
    expect(isMet('properties.exists(p, p.value.long.matches("b"))', large)).toBe(false);
    expect(isMet('properties.exists(p, p.value.long == p.value.long)', large)).toBe(true);
  });

  it.each([
    ['nests', `${'('.repeat(5_000)}true${')'.repeat(5_000)}`],
    ['negates', `${'!'.repeat(100_000)}true`],
    ['adds', `${'1 + '.repeat(1_000)}1 == 1`],
    ['chains', `${'true && '.repeat(10_000)}true`],
    ['types', `[1]${'.map(x, {x: x})'.repeat(30)}.size() == 1`],
    ['complains', Array.from({ length: 1_500 }, (_, at) => `x${at}`).join(' || ')],
  ])('that %s too much is invalid', (_, rule) => {
    expect(() => ruleOf(rule)).toThrow(ConstraintError);
  });

  it('may be long', () => {
    expect(isMet(`${'properties.exists(p, p.type == "b") || '.repeat(300)}true`)).toBe(true);
    expect(isMet(`"${long.slice(0, 130_000)}".size() == 130000`)).toBe(true);
  });
});

import { expect, onTestFinished, test, vi } from 'vitest';
import type { JsonObject } from '../../../api/json.ts';
import { goYaml } from './go-yaml.ts';

const long = 'words '.repeat(20).trim();

/** The real opm judges the same and thousands of odd texts in test/tools. */
test.each([
  ['plain', 'plain\n'],
  ['a: b', "'a: b'\n"],
  ['@at', "'@at'\n"],
  [' lead', "' lead'\n"],
  ["it's #1 ", "'it''s #1 '\n"],
  ['on', '"on"\n'],
  ['1.0', '"1.0"\n'],
  ['12:30', '"12:30"\n'],
  ['2020-01-01', '"2020-01-01"\n'],
  ['2020-13-01', '2020-13-01\n'],
  ['0x1g', '0x1g\n'],
  ['0xffffffffffffffff', '"0xffffffffffffffff"\n'],
  ['0x10000000000000000', '0x10000000000000000\n'],
  [`0b${'0'.repeat(9)}${'1'.repeat(64)}`, `"0b${'0'.repeat(9)}${'1'.repeat(64)}"\n`],
  [`0b${'1'.repeat(65)}`, `0b${'1'.repeat(65)}\n`],
  [`-0${'0'.repeat(70)}1`, `"-0${'0'.repeat(70)}1"\n`],
  ['', '""\n'],
  ['a\nb\n', '|\n  a\n  b\n'],
  ['a\nb', '|-\n  a\n  b\n'],
  ['\n', '|2+\n\n'],
  ['a\n\nb\n\n\n', '|+\n  a\n\n  b\n\n\n'],
  [`${long}  x y`, `${long.slice(0, 83)}\n  ${long.slice(84)}  x y\n`],
  ['a:', "'a:'\n"],
  ['a #b', "'a #b'\n"],
  ['a#b:c', 'a#b:c\n'],
  ['.5', '".5"\n'],
  ['...', "'...'\n"],
  ['a\n\n', '|+\n  a\n\n'],
  [' a\nb', '|2-\n   a\n  b\n'],
  ['a \nb', '"a \\nb"\n'],
  ['a\tb', '"a\\tb"\n'],
  ['🎉', '"\\U0001F389"\n'],
  [1, '1\n'],
  [-0, '0\n'],
  [1.5, '1.5\n'],
  [1e6, '1000000\n'],
  [1234567.5, '1.2345675e+06\n'],
  [1e-7, '1e-07\n'],
  [1e20, '1e+20\n'],
  [12345678901234567890n, '12345678901234567890\n'],
  [null, 'null\n'],
  [[], '[]\n'],
  [{}, '{}\n'],
])('%o is written as by go-yaml', (value, text) => {
  expect(goYaml({ v: value })).toBe(`v: ${text}`);
});

test.each<[JsonObject, string]>([
  [
    { b: [1, { c: 2, d: [] }], a10: 'x', a2: {}, on: [[1]] },
    'a2: {}\na10: x\nb:\n- 1\n- c: 2\n  d: []\n"on":\n- - 1\n',
  ],
  [{ a: long }, `a: ${long.slice(0, 83)}\n  ${long.slice(84)}\n`],
  [{ ['k'.repeat(129)]: 1 }, `? ${'k'.repeat(129)}\n: 1\n`],
  [JSON.parse('{"__proto__": 1}') as JsonObject, '__proto__: 1\n'],
  [{}, '{}\n'],
])('%o is written as by go-yaml', (value, text) => {
  expect(goYaml(value)).toBe(text);
});

test('a text of many digits is not read as one number, which takes minutes for a large one', () => {
  const bigInt = vi.spyOn(globalThis, 'BigInt');
  onTestFinished(() => bigInt.mockRestore());
  const digits = '1'.repeat(1000);
  expect(goYaml({ v: digits })).toBe(`v: "${digits}"\n`);
  expect(bigInt).not.toHaveBeenCalled();
});

import { expect, test } from 'vitest';
import { logrusLine } from './logrus.ts';

test.each([
  ['plain', 'msg=plain'],
  ['a-b_c.d/e@f^g+h', 'msg=a-b_c.d/e@f^g+h'],
  ['', 'msg='],
  ['two words', 'msg="two words"'],
  ['say "x"\n└── é', 'msg="say \\"x\\"\\n└── é"'],
])('%j is quoted where logrus quotes', (message, expected) => {
  const line = logrusLine('fatal', message);
  expect(line).toMatch(/^time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)" level=fatal msg=/);
  expect(line.slice(line.indexOf('msg='))).toBe(expected);
});

test('fields follow, in the order of their names', () => {
  expect(logrusLine('info', 'x', { name: 'b', cmd: 'a b' })).toMatch(/ msg=x cmd="a b" name=b$/);
});

import { expect, test } from 'vitest';
import type { JsonValue } from '../../../api/json.ts';
import { jsonText, RawJson } from './json-text.ts';

const html = { escapeHtml: true, sorted: true };

test.each<[string, JsonValue, string]>([
  [
    'members in byte order',
    { b: 1, a: { d: [2, { f: 3, e: 4 }], c: null } },
    '{"a":{"c":null,"d":[2,{"e":4,"f":3}]},"b":1}',
  ],
  ['names that JavaScript moves first', { b: 1, 10: 2, 9: 3 }, '{"10":2,"9":3,"b":1}'],
  [
    'a member __proto__',
    JSON.parse('{"b":1,"__proto__":{"a":2}}') as JsonValue,
    '{"__proto__":{"a":2},"b":1}',
  ],
  ['integers beyond 2^53', { a: [9_007_199_254_740_993n] }, '{"a":[9007199254740993]}'],
  ['minus zero', { b: 0, a: -0 }, '{"a":-0,"b":0}'],
  ['half of a surrogate pair', { b: 'x\ud800', a: 1 }, '{"a":1,"b":"x\ufffd"}'],
  ['the text of such an escape', { b: '\\ud800', a: 1 }, '{"a":1,"b":"\\\\ud800"}'],
  ['separators of lines', { b: '\u2028', '\u2029': 'é' }, '{"b":"\\u2028","\\u2029":"é"}'],
  ['HTML', { '<': '&' }, '{"<":"&"}'],
])('%s', (_name, value, text) => {
  expect(jsonText(value)).toBe(text);
});

test('escapes HTML where Go does, in names too', () => {
  expect(jsonText({ b: '<a>', '&': ['\u2028'] }, html)).toBe(
    '{"\\u0026":["\\u2028"],"b":"\\u003ca\\u003e"}',
  );
});

test('leaves text that is JSON already', () => {
  const raw = new RawJson('{"b": 1, "a": 2}') as unknown as JsonValue;
  expect(jsonText({ z: 1, c: raw })).toBe('{"c":{"b": 1, "a": 2},"z":1}');
});

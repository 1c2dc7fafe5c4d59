import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from './json.ts';

test('integers beyond 2^53 keep every digit in both directions', () => {
  const text = '{"a":9007199254740993,"b":-18446744073709551615,"c":1.5,"d":[1234567890123456789]}';
  expect(stringifyJson(parseJson(text))).toBe(text);
});

test('long digits inside strings and floats stay what they are', () => {
  const value = parseJson('{"s":"12345678901234567890","f":1.25e3}');
  expect(value).toEqual({ s: '12345678901234567890', f: 1250 });
});

test('a __proto__ key is data, not a prototype', () => {
  const value = parseJson('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('what is no JSON is refused, with large integers or without', () => {
  const circle: Record<string, unknown> = { large: 2n ** 64n };
  expect(stringifyJson(circle, 1)).toBe('{\n "large": 18446744073709551616\n}');
  circle['self'] = circle;
  expect(() => stringifyJson(circle)).toThrow('circular');
});

import { describe, expect, it } from 'vitest';
import { goJson, hashObject, sortedMap } from './object-hash.ts';

describe('hashObject gives the hashes that RukPak gives', () => {
  it.each([
    [
      'sa1',
      [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      'osbgchy2w9tcrfic1jspf8vsinkvximmfgh6o69h76',
    ],
    [
      'sa2',
      [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
      '31tdg4e9kc0ws88hvehnwyqak38l5m1txl45h7hd9gui',
    ],
    [
      '',
      [{ verbs: ['get'], apiGroups: ['a.b'], resources: ['<x>&'] }],
      '1wr7lrjvz0z3bhcqrfkzzg30x8pm0fxgqy5bfybttwop',
    ],
  ])('for the rules of the account %j', (serviceAccountName, rules, hash) => {
    expect(hashObject({ serviceAccountName, rules })).toBe(hash);
  });
});

describe('goJson', () => {
  it('escapes what Go escapes, and nothing else', () => {
    expect(goJson({ a: '<&>\u2028\u2029', b: 'é😀\x7f/', c: '\b\f\n\r\t\0"\\' })).toBe(
      '{"a":"\\u003c\\u0026\\u003e\\u2028\\u2029","b":"é😀\x7f/","c":"\\u0008\\u000c\\n\\r\\t\\u0000\\"\\\\"}',
    );
  });

  it('does not take an escaped backslash for the start of an escape', () => {
    expect(goJson('\\b\\\\f')).toBe('"\\\\b\\\\\\\\f"');
  });

  it('leaves out what is undefined and keeps every digit', () => {
    expect(goJson({ b: 2n ** 63n, a: undefined, c: null })).toBe(
      '{"b":9223372036854775808,"c":null}',
    );
  });
});

describe('sortedMap', () => {
  it('sorts by bytes, not by UTF-16 units', () => {
    expect(Object.keys(sortedMap({ '\uff5e': '', '😀': '', b: '', B: '' }))).toEqual([
      'B',
      'b',
      '\uff5e',
      '😀',
    ]);
  });

  it('keeps __proto__ as a key', () => {
    const map = JSON.parse('{"b":"1","__proto__":"2"}') as Record<string, string>;
    expect(goJson(sortedMap(map))).toBe('{"__proto__":"2","b":"1"}');
  });
});

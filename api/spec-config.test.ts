import { describe, expect, it } from 'vitest';
import { isObject, meantField, typeOf } from './spec-config.ts';

describe('meantField', () => {
  it.each([
    ['watchNamespces', 'watchNamespace'],
    ['installnamespace', 'installNamespace'],
    ['WatchNamespace', 'watchNamespace'],
    ['vars', undefined],
    ['envs', 'env'],
    ['team', undefined],
    ['dev', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('of %s', (name, meant) => {
    const known = ['installNamespace', 'watchNamespace', 'watchNamespaces', 'env'];
    expect(meantField(name, known)).toBe(meant);
  });
});

describe('typeOf', () => {
  it.each([
    [null, 'null'],
    [[], 'a list'],
    [{}, 'an object'],
    ['', 'empty'],
    ['a', 'a string'],
    [true, 'a boolean'],
    [1, 'a number'],
    [1n, 'a number'],
  ])('%s is %s', (value, name) => {
    expect(typeOf(value)).toBe(name);
    expect(isObject(value)).toBe(name === 'an object');
  });
});

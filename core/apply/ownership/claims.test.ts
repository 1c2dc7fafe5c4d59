import { expect, test } from 'vitest';
import { Claims } from './claims.ts';

test('the first one has an object until it gives it up', () => {
  const claims = new Claims();
  expect(claims.take(['a', 'b'], 'one')).toEqual(['a', 'b']);
  expect(claims.take(['b', 'c'], 'two')).toEqual(['c']);
  expect(claims.otherHolder('a', 'one')).toBeUndefined();
  expect(claims.otherHolder('b', 'two')).toBe('one');
  claims.release(['b'], 'two');
  expect(claims.otherHolder('b', 'two')).toBe('one');
  claims.keepOnly(new Set(['a']), 'one');
  expect(claims.otherHolder('b', 'two')).toBeUndefined();
  expect(claims.otherHolder('a', 'two')).toBe('one');
  claims.releaseAll('one');
  expect(claims.otherHolder('a', 'two')).toBeUndefined();
});

test('taking again yields only what is new', () => {
  const claims = new Claims();
  claims.take(['a'], 'one');
  expect(claims.take(['a', 'b'], 'one')).toEqual(['b']);
});

test('what was handed over changes its holder at once', () => {
  const claims = new Claims();
  claims.take(['a', 'b'], 'one');
  claims.seize(['a', 'c'], 'two');
  expect(claims.otherHolder('a', 'one')).toBe('two');
  expect(claims.otherHolder('b', 'two')).toBe('one');
  claims.releaseAll('one');
  expect(claims.otherHolder('a', 'one')).toBe('two');
});

test('all that an owner wants is known once it said so, until it is gone', () => {
  const claims = new Claims();
  claims.take(['a'], 'one');
  expect(claims.isSettled('one')).toBe(false);
  claims.keepOnly(new Set(['a']), 'one');
  expect(claims.isSettled('one')).toBe(true);
  claims.releaseAll('one');
  expect(claims.isSettled('one')).toBe(false);
});

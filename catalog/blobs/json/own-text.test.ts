import { expect, test } from 'vitest';
import { ownText } from './own-text.ts';

test.each([
  '',
  'short',
  'a text of many characters',
  'ein längerer Text 🎉',
  'half a pair \ud83c here',
])('a copy of %j is equal', (text) => {
  expect(ownText(text)).toBe(text);
});

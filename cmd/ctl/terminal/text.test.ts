import { expect, it } from 'vitest';
import { visibleText } from './text.ts';

it.each([
  ['colours and titles', '\u001b[31mred\u001b]0;title\u0007', '\\x1b[31mred\\x1b]0;title\\x07'],
  ['the same in one character', '\u009b31m', '\\x9b31m'],
  ['what writes over a line', 'evil\rgood\bx\u007f', 'evil\\x0dgood\\x08x\\x7f'],
  ['what turns text around', 'a\u202egnp.exe\u2066b', 'a\\u202egnp.exe\\u2066b'],
])('shows %s instead of letting the terminal obey', (_what, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('leaves lines, tabs and other scripts alone', () => {
  const text = '--- a\n+++ b\n\tké: "日本 🎉"';
  expect(visibleText(text)).toBe(text);
});

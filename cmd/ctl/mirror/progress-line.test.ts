import { expect, test } from 'vitest';
import { byteText, ProgressLine } from './progress-line.ts';

test('a terminal sees bytes and the time that is left, by what was sent so far', () => {
  let now = 1_000;
  let shown = '';
  const line = new ProgressLine({ isTTY: true, write: (text) => (shown += text) }, () => now);
  line.begin(4_000_000);
  line.add(1_000_000, false);
  now += 10_000;
  line.add(1_000_000, true);
  expect(shown.split('\r\u001b[K').at(-1)).toBe('2.0 MB of 4.0 MB, 20s left');
});

test('a file gets no progress', () => {
  let shown = '';
  const line = new ProgressLine({ write: (text) => (shown += text) });
  line.begin(10);
  line.add(10, true);
  line.clear();
  expect(shown).toBe('');
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [12_300_000_000, '12.3 GB'],
])('%i bytes are %s', (bytes, text) => {
  expect(byteText(bytes)).toBe(text);
});

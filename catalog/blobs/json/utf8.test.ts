import { expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { readBlobs } from '../index.ts';

function textOf(bytes: Buffer): unknown {
  const json = Buffer.concat([Buffer.from('{"schema":"x","a":"'), bytes, Buffer.from('"}')]);
  return [...readBlobs('f', json)][0]?.value['a'];
}

test.each([
  ['two bytes of a character of three', 'e282', 2],
  ['a surrogate', 'eda080', 3],
  ['a character with a shorter form', 'c1bf', 2],
  ['a longer one', 'e09fbf', 3],
  ['the longest one', 'f08fbfbf', 4],
  ['a number beyond Unicode', 'f4908080', 4],
  ['bytes that begin nothing', 'ff80', 2],
])('%s is a replacement character for each byte', (_name, hex, count) => {
  const bytes = Buffer.from(hex, 'hex');
  const around = Buffer.concat([Buffer.from('ä'), bytes, Buffer.from('€😀')]);
  expect(textOf(around)).toBe(`ä${'\ufffd'.repeat(count)}€😀`);
});

test.each([
  ['no UTF-8', Buffer.alloc(2_000_000, 0xff)],
  ['replacement characters already', Buffer.from('\ufffd'.repeat(2_000_000))],
])('a long text of %s is read in proportion to its length', (_name, bytes) => {
  const start = cpuTime();
  expect(textOf(bytes)).toBe('\ufffd'.repeat(2_000_000));
  expect(cpuTime() - start).toBeLessThan(2_000);
});

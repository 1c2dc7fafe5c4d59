import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect } from '../../../test/helpers/collect.ts';
import { readLines, readText } from './body.ts';

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe('readLines', () => {
  test('joins lines however the stream is cut, within a character too', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const parts = [];
        for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
        expect(await collect(readLines(chunks(...parts)))).toEqual(lines);
      }),
    );
  });

  test('drops empty lines and a last one that was cut off', async () => {
    expect(await collect(readLines(chunks('a\n\n \nb\n{"ty')))).toEqual(['a', 'b']);
  });

  test('refuses a line beyond the limit before it is complete', async () => {
    const lines = collect(readLines(chunks('ok\n', 'x'.repeat(60), 'x'.repeat(60)), 100));
    await expect(lines).rejects.toThrow('a watch event is longer than 100 bytes');
  });
});

describe('readText', () => {
  test('reads plain and gzipped bodies', async () => {
    expect(await readText(chunks('grü', 'ße'), undefined)).toBe('grüße');
    expect(await readText(chunks(gzipSync('grüße')), 'gzip')).toBe('grüße');
  });

  test('rejects gzip that is none', async () => {
    await expect(readText(chunks('plain'), 'gzip')).rejects.toThrow('incorrect header');
  });
});

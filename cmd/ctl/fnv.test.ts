import { describe, expect, it } from 'vitest';
import { fnv1a64 } from './fnv.ts';

describe('fnv1a64', () => {
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['foobar', '85944171f73967e8'],
    ['chongo was here!\n', '46810940eff5f915'],
  ])('is that of the reference for %j', (text, hash) => {
    expect(fnv1a64(Buffer.from(text))).toBe(hash);
  });

  it('agrees with the definition for all bytes', () => {
    const bytes = Uint8Array.from({ length: 4096 }, (_, index) => (index * 31) % 256);
    let expected = 0xcbf29ce484222325n;
    for (const byte of bytes) {
      expected = BigInt.asUintN(64, (expected ^ BigInt(byte)) * 0x100000001b3n);
    }
    expect(fnv1a64(bytes)).toBe(expected.toString(16));
  });
});

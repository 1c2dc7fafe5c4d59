import { buffer } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZstdFrames } from './zstd-frames.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

function skippable(content: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x184d2a50, 0);
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, Buffer.from(content)]);
}

describe('ZstdFrames', () => {
  it('unpacks every frame, however the bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        async (contents, size) => {
          const packed = Buffer.concat(contents.map((content) => zstdCompressSync(content)));
          const frames = new ZstdFrames(inChunks(packed, size));
          expect((await buffer(frames)).equals(Buffer.concat(contents))).toBe(true);
          expect(frames.bytesWritten).toBe(packed.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('passes over skippable frames before, between and after', async () => {
    const packed = Buffer.concat([
      skippable('before'),
      zstdCompressSync('a'),
      skippable(''),
      zstdCompressSync('b'),
      skippable('after'),
    ]);
    for (const size of [1, 7, packed.length]) {
      expect(String(await buffer(new ZstdFrames(inChunks(packed, size))))).toBe('ab');
    }
  });

  it('holds no more than what is under way', async () => {
    const content = Buffer.alloc(300_000, 'x');
    const packed = Buffer.concat(Array.from({ length: 20 }, () => zstdCompressSync(content)));
    let size = 0;
    for await (const chunk of new ZstdFrames(inChunks(packed, 1000))) size += chunk.byteLength;
    expect(size).toBe(20 * content.length);
  });

  it.each([1, 5, 12])('refuses a second frame that ends after %d bytes', async (length) => {
    const second = zstdCompressSync('second').subarray(0, length);
    const packed = Buffer.concat([zstdCompressSync('first'), second]);
    await expect(buffer(new ZstdFrames(inChunks(packed, 100)))).rejects.toThrow();
  });

  it('refuses garbage after a frame', async () => {
    const packed = Buffer.concat([zstdCompressSync('first'), Buffer.from('garbage')]);
    await expect(buffer(new ZstdFrames(inChunks(packed, 100)))).rejects.toThrow();
  });
});

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalError } from '../errors.ts';
import { defaultLimits } from './bundle-files-builder.ts';
import { type DecompressOptions, decompressed, ZstdFrames } from './decompress.ts';

const text = Buffer.from(Array.from({ length: 50_000 }, (_, i) => `line ${i * 7919}\n`).join(''));

async function unpack(
  bytes: Buffer,
  compression: DecompressOptions['compression'] = 'gzip',
): Promise<Buffer> {
  const stream = Readable.from(
    [bytes.subarray(0, 7), bytes.subarray(7)].filter((b) => b.length > 0),
  );
  const options = { compression, limits: defaultLimits, signal: AbortSignal.timeout(120_000) };
  return await buffer(decompressed(stream, options));
}

describe('decompressed', () => {
  it.each([
    ['gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['none', text],
  ] as const)('unpacks %s, named or detected', async (compression, bytes) => {
    expect((await unpack(bytes, compression)).equals(text)).toBe(true);
    expect((await unpack(bytes, 'detect')).equals(text)).toBe(true);
  });

  it('unpacks a gzip of several members', async () => {
    const bytes = Buffer.concat([gzipSync('one '), gzipSync('two')]);
    expect((await unpack(bytes)).toString()).toBe('one two');
  });

  it.each([
    ['a page of HTML', Buffer.from('<html>no gzip</html>'), 'gzip: invalid header'],
    ['a body shorter than a header', Buffer.from('short'), 'unexpected EOF'],
    ['an empty body', Buffer.alloc(0), 'unexpected EOF'],
    ['a truncated body', gzipSync(text).subarray(0, 5000), 'unexpected EOF'],
    ['a body without its trailer', gzipSync(text).subarray(0, -4), 'unexpected EOF'],
    ['a wrong checksum', spoiled(gzipSync(text), -6), 'gzip: invalid checksum'],
    ['garbage inside', spoiled(gzipSync(text), 300), /^gzip: /],
  ])('refuses %s with a clear error', async (_, bytes, message) => {
    const refused = unpack(bytes);
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(message);
  });

  it.each([
    ['not zstd', Buffer.from('<html>no zstd</html>'), 'zstd: invalid header'],
    ['cut in its magic', Buffer.from([0x28, 0xb5]), 'unexpected EOF'],
    ['truncated', zstdCompressSync(text).subarray(0, 5000), 'unexpected EOF'],
    ['damaged', spoiled(zstdCompressSync(text), 4), /^zstd: /],
  ])('refuses zstd that is %s', async (_, bytes, message) => {
    const refused = unpack(bytes, 'zstd');
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(message);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 9 })],
    ['zstd', zstdCompressSync(Buffer.alloc(300 * 1024 * 1024))],
  ] as const)('stops a %s bomb soon after the first megabyte', async (compression, bomb) => {
    let size = 0;
    const options = { compression, limits: defaultLimits, signal: AbortSignal.timeout(120_000) };
    const bombed = (async () => {
      for await (const chunk of decompressed(Readable.from([bomb]), options)) {
        size += chunk.byteLength;
      }
    })();
    await expect(bombed).rejects.toThrow(
      new TerminalError(
        'content unpacks to more than 200 times its compressed size (--max-content-compression-ratio)',
      ),
    );
    // The compressed side is counted in whole chunks, 200 times 300 KiB at most.
    expect(size).toBeLessThan(64 * 1024 * 1024);
  });

  it('leaves small content alone, however well it packs', async () => {
    expect(await unpack(gzipSync(Buffer.alloc(900_000)))).toHaveLength(900_000);
  });

  it('passes on errors of the stream as they are', async () => {
    const lost = new Error('connection reset');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield gzipSync(text).subarray(0, 1000);
      throw lost;
    }
    const options = { limits: defaultLimits, signal: AbortSignal.timeout(120_000) };
    await expect(buffer(decompressed(failing(), { ...options, compression: 'gzip' }))).rejects.toBe(
      lost,
    );
  });

  it('stops at once when aborted, even while the stream hangs', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield gzipSync(text).subarray(0, 1000);
      setImmediate(() => controller.abort(reason));
      await new Promise(() => undefined);
    }
    const options = { limits: defaultLimits, signal: controller.signal };
    await expect(buffer(decompressed(hanging(), { ...options, compression: 'gzip' }))).rejects.toBe(
      reason,
    );
  });

  it('lets go of the stream when the reader stops early', async () => {
    const stream = Readable.from([gzipSync(text), gzipSync(text)]);
    const options = { limits: defaultLimits, signal: AbortSignal.timeout(120_000) };
    for await (const _ of decompressed(stream, { ...options, compression: 'gzip' })) break;
    expect(stream.destroyed).toBe(true);
  });
});

function spoiled(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = at < 0 ? copy.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ 0xff;
  return copy;
}

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

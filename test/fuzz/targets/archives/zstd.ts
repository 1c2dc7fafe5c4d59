import { zstdCompressSync } from 'node:zlib';
import { decompressed } from '../../../../core/content/index.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { type FuzzTarget, streamOf, Violation } from '../../fuzz-target.ts';
import { limits, sampleZstds } from './content.ts';

const frames = Buffer.concat(
  Array.from({ length: 20 }, (_, index) => zstdCompressSync(Buffer.from(`frame ${index}\n`))),
);
const mebibyte = 1024 * 1024;

/** Layers of images: frames of zstd, as many as there are. */
export const zstd: FuzzTarget = {
  name: 'zstd',
  seeds: [...sampleZstds, frames, zstdCompressSync(Buffer.alloc(200_000))],
  words: ['(\xb5/\xfd', '\x50\x2a\x4d\x18\x04\0\0\0abcd', '\x5e\x2a\x4d\x18'],
  refusals: [TerminalError],
  async read(input, signal) {
    let size = 0;
    const options = { compression: 'zstd', limits, signal } as const;
    for await (const chunk of decompressed(streamOf(input), options)) size += chunk.byteLength;
    const allowed = Math.max(mebibyte, input.byteLength * limits.maxCompressionRatio) + mebibyte;
    if (size > allowed) throw new Violation('unpacks to more than is allowed');
  },
};

import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../content/limits.ts';
import { TerminalError } from '../../errors.ts';
import { checkPack } from './check-pack.ts';

interface PackedObject {
  readonly type: number;
  /** As declared; the content's own where absent. */
  readonly size?: number;
  /** What stands between header and data. */
  readonly base?: readonly number[];
  readonly content: Uint8Array;
}

const blob = 3;
const offsetDelta = 6;
const referenceDelta = 7;

function aPack(objects: readonly PackedObject[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return Buffer.concat([header, ...objects.map(packed), Buffer.alloc(20)]);
}

function packed({ type, content, base = [], size = content.byteLength }: PackedObject): Buffer {
  const header = [(type << 4) | (size & 15)];
  let left = Math.floor(size / 16);
  while (left > 0) {
    header[header.length - 1] = (header.at(-1) ?? 0) | 128;
    header.push(left & 127);
    left = Math.floor(left / 128);
  }
  return Buffer.concat([Buffer.from(header), Buffer.from(base), deflateSync(content)]);
}

/** A delta's data begins with the sizes of its base and its result. */
function aDelta(resultSize: number): Buffer {
  const size: number[] = [];
  for (let left = resultSize; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([1, ...size, left, 0]);
    size.push((left & 127) | 128);
  }
}

const limits = { ...defaultLimits, maxBytes: 100_000, maxCompressionRatio: 10 };
const text = Buffer.from('text '.repeat(1000));

describe('a pack', () => {
  test('within the limits', () => {
    const objects = [
      { type: blob, content: text },
      { type: offsetDelta, base: [0x81, 0x02], content: aDelta(5000) },
      { type: referenceDelta, base: Array.from({ length: 20 }, () => 7), content: aDelta(5000) },
      { type: blob, content: Buffer.alloc(0) },
    ];
    expect(() => checkPack(aPack(objects), limits)).not.toThrow();
  });

  test.each([
    ['an object', { type: blob, content: Buffer.alloc(100_001) }],
    ['what a delta makes', { type: offsetDelta, base: [1], content: aDelta(5_000_000_000) }],
  ])('with %s beyond the limit', (_case, object) => {
    expect(() => checkPack(aPack([object]), limits)).toThrow(
      new TerminalError(
        'the repository unpacks to more than the limit of 100000 bytes (--max-content-bytes)',
      ),
    );
  });

  test('whose objects are too much together', () => {
    const object = { type: blob, content: Buffer.alloc(90_000) };
    expect(() => checkPack(aPack([object, object]), limits)).toThrow(
      'the limit of 100000 bytes (--max-content-compression-ratio)',
    );
  });

  test.each([
    ['that declares less than it has', aPack([{ type: blob, size: 10, content: text }])],
    ['that is cut off', aPack([{ type: blob, content: text }]).subarray(0, 30)],
    ['with fewer objects than it says', aPack([{ type: blob, content: text }], 2)],
    ['of no objects but noise', Buffer.concat([aPack([], 1), Buffer.alloc(100, 0xff)])],
  ])('%s is broken', (_case, pack) => {
    expect(() => checkPack(pack, limits)).toThrow(/^the server sent a broken pack: /);
    expect(() => checkPack(pack, limits)).not.toThrow(TerminalError);
  });
});

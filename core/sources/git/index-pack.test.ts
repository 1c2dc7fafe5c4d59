import git from 'isomorphic-git';
import { describe, expect, test } from 'vitest';
import {
  aChain,
  aCommitOf,
  aDelta,
  aPack,
  distance,
  objectId,
  type PackedObject,
  packed,
  variableSize,
} from '../../../test/helpers/packs.ts';
import { defaultLimits } from '../../content/index.ts';
import { TerminalError } from '../../errors.ts';
import { indexPack } from './index-pack.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

const limits = { ...defaultLimits, maxBytes: 100_000, maxEntries: 20, maxCompressionRatio: 10 };
const options = { repository: 'https://git.example.com/a', limits };
const gitdir = '/repository';
const text = Buffer.from('text '.repeat(1000));

/** What isomorphic-git finds in a pack by our index. */
async function readBlob(pack: Buffer, oid: string): Promise<Buffer> {
  const fs = new MemoryFileSystem(() => undefined);
  await git.init({ fs, gitdir, bare: true });
  fs.put(`${gitdir}/objects/pack/pack-1.idx`, indexPack(pack, options));
  fs.put(`${gitdir}/objects/pack/pack-1.pack`, pack);
  const { blob } = await git.readBlob({ fs, gitdir, oid });
  return Buffer.from(blob);
}

describe('objects of a pack are found', () => {
  test.each(['by offset', 'by id'] as const)('behind a chain of deltas named %s', async (named) => {
    const { pack } = aChain({ base: text, deltas: 5, named });
    const result = Buffer.concat([text, Buffer.from([0, 1, 2, 3, 4])]);
    expect(await readBlob(pack, objectId('blob', result))).toEqual(result);
  });

  test('where a delta stands before the base that it names', async () => {
    const base = Buffer.from(objectId('blob', text), 'hex');
    const content = aDelta(text.byteLength, Buffer.from('more'));
    const pack = aPack([
      { type: 'referenceDelta', base, content },
      { type: 'blob', content: text },
    ]);
    const result = Buffer.concat([text, Buffer.from('more')]);
    expect(await readBlob(pack, objectId('blob', result))).toEqual(result);
  });

  test('where a delta makes its own base, which git would follow without an end', async () => {
    const id = objectId('blob', text);
    const same = { type: 'referenceDelta', content: aDelta(text.byteLength) } as const;
    const pack = aPack([
      { type: 'blob', content: text },
      { ...same, base: Buffer.from(id, 'hex') },
    ]);
    expect(await readBlob(pack, id)).toEqual(text);
  });

  test('but not those whose base is not there', async () => {
    const pack = aPack([
      { type: 'referenceDelta', base: Buffer.alloc(20, 7), content: aDelta(5) },
      { type: 'blob', content: text },
    ]);
    expect(await readBlob(pack, objectId('blob', text))).toEqual(text);
  });
});

describe('a pack beyond a limit is refused with the repository and the limit', () => {
  const huge = Buffer.concat([variableSize(1), variableSize(5_000_000_000), Buffer.from([0])]);
  const blob = { type: 'blob', content: text } as const;
  const delta: PackedObject = {
    type: 'offsetDelta',
    base: distance(packed(blob).byteLength),
    content: huge,
  };
  const large = { type: 'blob', content: Buffer.alloc(90_000) } as const;
  const name = 'the repository https://git.example.com/a';

  test.each<[string, Buffer, string]>([
    [
      'an object',
      aPack([{ type: 'blob', content: Buffer.alloc(100_001) }]),
      'unpacks to more than the limit of 100000 bytes (--max-content-bytes)',
    ],
    [
      'what a delta says that it makes',
      aPack([blob, delta]),
      'unpacks to more than the limit of 100000 bytes (--max-content-bytes)',
    ],
    [
      'all together',
      aPack([large, large]),
      'unpacks to more than the limit of 100000 bytes (--max-content-compression-ratio)',
    ],
    [
      'chained deltas together',
      aChain({ base: Buffer.alloc(40_000), deltas: 3, named: 'by offset' }).pack,
      'unpacks to more than the limit of 100000 bytes (--max-content-compression-ratio)',
    ],
    [
      'the number of objects',
      aPack([], 1001),
      'has 1001 objects, over the limit of 1000 (50 times --max-content-entries)',
    ],
    [
      'a chain by offsets',
      aChain({ base: Buffer.from('a'), deltas: 251, named: 'by offset' }).pack,
      'has chains of more than 250 deltas',
    ],
    [
      'a chain by ids',
      aChain({ base: Buffer.from('a'), deltas: 251, named: 'by id' }).pack,
      'has chains of more than 250 deltas',
    ],
  ])('%s', (_what, pack, message) => {
    expect(() => indexPack(pack, options)).toThrow(new TerminalError(`${name} ${message}`));
  });
});

describe('a pack is broken', () => {
  const blob = { type: 'blob', content: text } as const;
  const { commit } = aCommitOf([]);
  const delta = (content: Buffer): Buffer =>
    aPack([blob, { type: 'offsetDelta', base: distance(packed(blob).byteLength), content }]);

  test.each([
    ['that declares less than it has', aPack([{ ...blob, size: 10 }])],
    ['that declares more than it has', aPack([{ ...blob, size: 10_000 }])],
    ['that is cut off', aPack([blob]).subarray(0, 30)],
    ['with fewer objects than it says', aPack([blob], 2)],
    ['of no objects but noise', Buffer.concat([aPack([], 1), Buffer.alloc(100, 0xff)])],
    ['that is none', Buffer.from('nothing of the kind')],
    [
      'whose delta is its own base',
      aPack([{ type: 'offsetDelta', base: distance(0), content: aDelta(5) }]),
    ],
    [
      'whose delta has a base between two objects',
      aPack([
        { type: 'commit', content: commit },
        { type: 'offsetDelta', base: distance(3), content: aDelta(5) },
      ]),
    ],
    ['whose delta is for another base', delta(aDelta(7))],
    ['whose delta makes less than it says', delta(Buffer.concat([sizes(9), Buffer.from([1, 65])]))],
    [
      'whose delta makes more than it says',
      delta(Buffer.concat([sizes(1), Buffer.from([2, 65, 66])])),
    ],
    ['whose delta copies too much', delta(Buffer.concat([sizes(9), Buffer.from([0x81, 255, 0])]))],
    ['whose delta is cut off', delta(Buffer.concat([sizes(9), Buffer.from([9, 65])]))],
    ['whose delta has a reserved instruction', delta(Buffer.concat([sizes(9), Buffer.from([0])]))],
  ])('%s', (_case, pack) => {
    expect(() => indexPack(pack, options)).toThrow(/^the server sent a broken pack: /);
    expect(() => indexPack(pack, options)).not.toThrow(TerminalError);
  });

  function sizes(result: number): Buffer {
    return Buffer.concat([variableSize(text.byteLength), variableSize(result)]);
  }
});

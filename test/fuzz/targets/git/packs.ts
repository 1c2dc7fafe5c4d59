import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import git from 'isomorphic-git';
import { TerminalError } from '../../../../core/errors.ts';
import { checkPack } from '../../../../core/sources/git/check-pack.ts';
import { MemoryFileSystem } from '../../../../core/sources/git/memory-file-system.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';
import { limits } from '../archives/content.ts';

const types = { commit: 1, tree: 2, blob: 3, offsetDelta: 6, referenceDelta: 7 } as const;

interface PackObject {
  readonly type: keyof typeof types;
  /** What a delta has before its data. */
  readonly base?: Buffer;
  readonly content: Buffer;
}

function packOf(objects: readonly PackObject[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects.length, 8);
  const body = Buffer.concat([head, ...objects.flatMap(partsOf)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function partsOf({ type, base, content }: PackObject): Buffer[] {
  const first =
    (types[type] << 4) | (content.byteLength & 15) | (content.byteLength > 15 ? 128 : 0);
  const more = content.byteLength > 15 ? [content.byteLength >> 4] : [];
  return [Buffer.from([first, ...more]), base ?? Buffer.alloc(0), deflateSync(content)];
}

const blob = { type: 'blob', content: Buffer.from('apiVersion: v1\n') } as const;
const id = createHash('sha1').update('blob 15\0apiVersion: v1\n').digest();
const tree = {
  type: 'tree',
  content: Buffer.concat([Buffer.from('100644 a.yaml\0'), id]),
} as const;
const commit = { type: 'commit', content: Buffer.from(`tree ${'a'.repeat(40)}\n\nx\n`) } as const;
/** Sizes of base and result; copies all of the base, then inserts two bytes. */
const delta = Buffer.from([15, 17, 0b1001_0000, 15, 2, 0x61, 0x62]);
const distance = Buffer.from([partsOf(blob).reduce((sum, part) => sum + part.byteLength, 0)]);

/** What a git server sends: checked against the limits, then indexed. */
export const packs: FuzzTarget = {
  name: 'git-packs',
  seeds: [
    packOf([blob, tree, commit]),
    packOf([blob, { type: 'offsetDelta', base: distance, content: delta }]),
    packOf([blob, { type: 'referenceDelta', base: id, content: delta }]),
    packOf([]),
  ],
  words: ['PACK', '\0\0\0\x02', '\x78\x9c', '\x6f', '\x7f'],
  refusals: [TerminalError, Error],
  async read(input) {
    checkPack(input, limits);
    await index(input);
  },
};

const gitdir = '/repository';

/** The library's errors are about the pack; which class they have is its own affair. */
async function index(pack: Uint8Array): Promise<void> {
  const fs = new MemoryFileSystem(() => undefined);
  await git.init({ fs, gitdir, bare: true });
  await fs.mkdir(`${gitdir}/objects/pack`).catch(() => undefined);
  await fs.writeFile(`${gitdir}/objects/pack/pack-x.pack`, pack);
  await git
    .indexPack({ fs, dir: '/', gitdir, filepath: 'repository/objects/pack/pack-x.pack' })
    .catch(() => undefined);
}

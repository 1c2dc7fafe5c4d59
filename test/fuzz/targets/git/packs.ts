import { TerminalError } from '../../../../core/errors.ts';
import { indexPack } from '../../../../core/sources/git/index-pack.ts';
import { aCommitOf, aDelta, aPack, distance, objectId, packed } from '../../../helpers/packs.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';
import { limits } from '../archives/content.ts';

const blob = { type: 'blob', content: Buffer.from('apiVersion: v1\n') } as const;
const id = objectId('blob', blob.content);
const { tree, commit } = aCommitOf([id]);
const delta = aDelta(blob.content.byteLength, Buffer.from('ab'));

/** Packs from a git server, as core indexes them. */
export const packs: FuzzTarget = {
  name: 'git-packs',
  seeds: [
    aPack([blob, { type: 'tree', content: tree }, { type: 'commit', content: commit }]),
    aPack([blob, { type: 'offsetDelta', base: distance(packed(blob).byteLength), content: delta }]),
    aPack([blob, { type: 'referenceDelta', base: Buffer.from(id, 'hex'), content: delta }]),
    aPack([]),
  ],
  words: ['PACK', '\0\0\0\x02', '\x78\x9c', '\x6f', '\x7f'],
  refusals: [TerminalError, Error],
  read(input) {
    indexPack(input, { repository: 'https://git.example.com/a', limits });
  },
};

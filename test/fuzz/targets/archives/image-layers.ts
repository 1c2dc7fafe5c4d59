import { gzipSync } from 'node:zlib';
import { TerminalError } from '../../../../core/errors.ts';
import { LayeredTree } from '../../../../core/sources/image/layers.ts';
import { type FuzzTarget, streamOf } from '../../fuzz-target.ts';
import { expectTree, limits, sampleTars, tarOf } from './content.ts';

const empty = new Uint8Array();
const whiteouts = tarOf([
  { path: 'manifests/.wh.a.yaml', content: empty },
  { path: 'é/.wh..wh..opq', content: empty },
  { path: 'etc/passwd', content: Buffer.from('root') },
]);
const below = sampleTars[0] ?? Buffer.alloc(0);

/** A layer over another one: whiteouts, links, compressed or not. */
export const imageLayers: FuzzTarget = {
  name: 'image-layers',
  seeds: [...sampleTars, whiteouts, gzipSync(whiteouts)],
  words: ['.wh.', '.wh..wh..opq', '../', 'etc/', '/', '\x001\0', '\x002\0', 'manifests/a.yaml'],
  refusals: [TerminalError],
  async read(input, signal) {
    const layers = new LayeredTree({ isSystem: true, limits, signal });
    await layers.apply(streamOf(below));
    await layers.apply(streamOf(input));
    expectTree(layers.tree.bundleFiles(limits));
  },
};

import { packBundle, unpackBundle } from '../../../../core/content/index.ts';
import type { BundleFiles } from '../../../../core/contracts/bundle-files.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { type FuzzTarget, streamOf, Violation } from '../../fuzz-target.ts';
import { expectTree, limits, sampleGzips } from './content.ts';

/** Bundles as they are stored: what was read and is written comes back as it was. */
export const gzip: FuzzTarget = {
  name: 'gzip',
  seeds: sampleGzips,
  words: ['\x1f\x8b\x08\x00', '\x1f\x8b\x08\x1f', '\0\0\xff\xff'],
  refusals: [TerminalError],
  async read(input, signal) {
    const files = await unpackBundle(streamOf(input), { limits, signal });
    expectTree(files);
    const stored = { ...limits, maxEntries: limits.maxEntries + 1, maxCompressionRatio: Infinity };
    const again = await unpackBundle(packBundle(files), { limits: stored, signal });
    if (textOfTree(again) !== textOfTree(files))
      throw new Violation('reads what it stored as other content');
  },
};

function textOfTree({ files, directories }: BundleFiles): string {
  const contents = [...files].map(([path, content]) => [
    path,
    Buffer.from(content).toString('base64'),
  ]);
  return JSON.stringify([contents, [...directories]]);
}

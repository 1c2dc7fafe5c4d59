import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { packBundle } from '../../core/content/index.ts';
import { aTree } from './registry-bundle.ts';

/** A tar.gz of files with the given contents. */
export async function anArchive(
  contents: Readonly<Record<string, string | Uint8Array>>,
): Promise<Buffer> {
  return await buffer(packBundle(aTree(contents)));
}

export function checksumOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

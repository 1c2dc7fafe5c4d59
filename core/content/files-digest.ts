import { createHash } from 'node:crypto';
import type { BundleFiles } from '../contracts/bundle-files.ts';

/** SHA-256 of the files' paths and content: annotations have it, so it must stay the same. */
export function filesDigest({ files }: BundleFiles): string {
  const hash = createHash('sha256');
  for (const [path, content] of files) {
    hash.update(`${Buffer.byteLength(path)} ${content.byteLength} ${path}`).update(content);
  }
  return `sha256:${hash.digest('hex')}`;
}

import type { BundleFiles } from '../../contracts/bundle-files.ts';

/** Measured: the worst that was found takes a built-in class some 20 ms (docs/adr/0016). */
const maxBytes = 16 * 1024;
const maxFiles = 32;

/** What begins YAML's anchors, tags and complex keys, which make reading slow; rare in manifests. */
const costly: readonly number[] = Array.from('&!?', (character) => character.charCodeAt(0));

/**
 * Every registry+v1 bundle has it, and keeps it under `bundle/` where it is stored. A conversion
 * makes hundreds of times its size: of each deployment an object with all annotations of the CSV.
 */
const convertedFiles = ['metadata/annotations.yaml', 'bundle/metadata/annotations.yaml'];

/** Whether content, hostile or not, is read in no more time than the event loop has for it. */
export function isSmallContent({ files }: BundleFiles): boolean {
  if (files.size > maxFiles || convertedFiles.some((path) => files.has(path))) return false;
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  if (bytes > maxBytes) return false;
  return ![...files.values()].some((content) => costly.some((byte) => content.includes(byte)));
}

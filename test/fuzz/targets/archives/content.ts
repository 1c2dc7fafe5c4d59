import { gzipSync, zstdCompressSync } from 'node:zlib';
import { tarParts, type WrittenEntry } from '../../../../core/content/index.ts';
import type { BundleFiles, ContentLimits } from '../../../../core/contracts/bundle-files.ts';
import { Violation } from '../../fuzz-target.ts';

/** Far below those of the product, for an input of some kilobytes to come near them. */
export const limits: ContentLimits = {
  maxBytes: 4 * 1024 * 1024,
  maxEntries: 500,
  maxPathLength: 300,
  maxDepth: 16,
  maxCompressionRatio: 200,
  timeout: 60_000,
};

export function tarOf(entries: readonly WrittenEntry[]): Buffer {
  return Buffer.concat([...tarParts(entries)]);
}

const text = Buffer.from('apiVersion: v1\nkind: ConfigMap\n');

/** With names that are long, nested, of other alphabets, and twice there. */
export const sampleTars: readonly Buffer[] = [
  tarOf([{ path: '.' }, { path: 'manifests' }, { path: 'manifests/a.yaml', content: text }]),
  tarOf([{ path: `${'long/'.repeat(14)}${'x'.repeat(120)}`, content: Buffer.alloc(513, 1) }]),
  tarOf([
    { path: 'é/ü.yaml', content: text },
    { path: 'a', content: new Uint8Array() },
    { path: './a', content: text },
  ]),
];

export const sampleGzips: readonly Buffer[] = sampleTars.map((tar) => gzipSync(tar));
export const sampleZstds: readonly Buffer[] = sampleTars.map((tar) => zstdCompressSync(tar));

/** @throws Violation where a tree is none, or passes a limit. */
export function expectTree(tree: BundleFiles): void {
  const { files, directories } = tree;
  for (const path of [...files.keys(), ...directories]) {
    const problem = pathProblem(path, tree);
    if (problem !== undefined) throw new Violation(problem);
  }
  const bytes = [...files.values()].reduce((sum, content) => sum + content.byteLength, 0);
  if (bytes > limits.maxBytes) throw new Violation('gives more bytes than are allowed');
  const entries = files.size + directories.size;
  if (entries > limits.maxEntries) throw new Violation('gives more entries than are allowed');
}

function pathProblem(path: string, { files, directories }: BundleFiles): string | undefined {
  const parts = path.split('/');
  const isClean = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isClean || path.includes('\0')) return 'gives a path that leaves the tree';
  if (parts.length > limits.maxDepth) return 'gives a path that is too deep';
  if (files.has(path) && directories.has(path)) return 'gives a file that is a folder';
  const parent = parts.slice(0, -1).join('/');
  return parent === '' || directories.has(parent) ? undefined : 'gives a path without parent';
}

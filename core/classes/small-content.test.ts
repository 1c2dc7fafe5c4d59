import { expect, test } from 'vitest';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { isSmallContent } from './run-in-workers.ts';

const manifest = 'kind: ConfigMap\nmetadata: {name: a}\n';

function manyFiles(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`manifests/${index}.yaml`, manifest]),
  );
}

test.each<[string, Record<string, string>, boolean]>([
  ['manifests of an app', { 'manifests/a.yaml': manifest, 'manifests/b.yaml': manifest }, true],
  ['nothing', {}, true],
  ['16 KiB', { 'manifests/a.yaml': 'a'.repeat(16_384) }, true],
  ['more in one file', { 'manifests/a.yaml': 'a'.repeat(16_385) }, false],
  ['more in two', { 'a.yaml': 'a'.repeat(10_000), 'b.yaml': 'a'.repeat(10_000) }, false],
  ['32 files', manyFiles(32), true],
  ['more files', manyFiles(33), false],
  ['an anchor', { 'manifests/a.yaml': 'a: &x 1\nb: *x\n' }, false],
  ['a tag', { 'manifests/a.yaml': manifest, 'manifests/b.yaml': 'a: !!str b\n' }, false],
  ['what will be converted', { 'metadata/annotations.yaml': 'annotations: {}\n' }, false],
  ['what is converted again', { 'bundle/metadata/annotations.yaml': 'annotations: {}\n' }, false],
  ['a complex key', { 'manifests/a.yaml': '? [a]\n: b\n' }, false],
])('%s: small is %3$s', (_, files, small) => {
  expect(isSmallContent(aTree(files))).toBe(small);
});

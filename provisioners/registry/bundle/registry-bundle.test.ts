import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../../core/sdk.ts';
import { aCsvManifest, aRegistryTree, aTree } from '../../../test/helpers/registry-bundle.ts';
import { readPackageName, readRegistryBundle } from './registry-bundle.ts';

const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n';

function read(contents: Readonly<Record<string, string | Uint8Array>>) {
  return readRegistryBundle(aRegistryTree(aCsvManifest(), contents));
}

describe('readRegistryBundle', () => {
  it('sorts objects by kind alone, in every file and document', () => {
    const bundle = read({
      'manifests/.hidden': secret,
      'manifests/crd.json': '{"kind":"CustomResourceDefinition","metadata":{"name":"c"}}',
      'manifests/two.txt': `# nothing but a comment\n---\n${secret}---\n# again\n---\n${secret}`,
      'manifests/empty.yaml': '',
      'tests/scorecard/config.yaml': 'not: looked at',
    });
    expect(bundle.packageName).toBe('pkg');
    expect(bundle.csv.name).toBe('pkg.v1.0.0');
    expect(bundle.crds.map((crd) => crd.metadata.name)).toEqual(['c']);
    expect(bundle.others.map((object) => object.kind)).toEqual(['Secret', 'Secret', 'Secret']);
  });

  it.each(['v1alpha1', 'binding.operators.coreos.com/v1alpha1', undefined])(
    'knows a CSV of apiVersion %s',
    (apiVersion) => {
      const csv = { ...aCsvManifest(), apiVersion };
      expect(readRegistryBundle(aRegistryTree(csv)).csv.name).toBe('pkg.v1.0.0');
    },
  );

  it('takes the last of several CSVs', () => {
    const last = JSON.stringify(aCsvManifest({}, { name: 'last.v1' }));
    expect(read({ 'manifests/z.yaml': last }).csv.name).toBe('last.v1');
    expect(read({ 'manifests/a.yaml': last }).csv.name).toBe('pkg.v1.0.0');
  });

  it('reads a bundle without a CSV as one with an empty CSV', () => {
    expect(read({ 'manifests/csv.yaml': secret }).csv.installModes).toEqual([]);
  });

  it('keeps a List as the one object it is', () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${secret.replaceAll('\n', '\n  ')}\n`;
    expect(read({ 'manifests/list.yaml': list }).others.map((object) => object.kind)).toEqual([
      'List',
    ]);
  });

  it.each([
    ['bad YAML', 'a: [', 'read "f.yaml": error converting YAML to JSON: yaml: '],
    ['no kind', 'a: 1', `read "f.yaml": Object 'Kind' is missing in '{"a":1}'`],
    [
      'a text file',
      'hello',
      'read "f.yaml": json: cannot unmarshal string into Go value of type unstructured.detector',
    ],
    ['bytes that are no UTF-8', Uint8Array.of(0x61, 0xff), 'read "f.yaml": '],
    ['an alias bomb', aliasBomb(), 'read "f.yaml": '],
  ])('names the file that has %s', (_case, content, message) => {
    expect(() => read({ 'manifests/f.yaml': content })).toThrow(message);
  });

  it('refuses a sub-directory, even an empty one', () => {
    expect(() => read({ 'manifests/sub/': '' })).toThrow(
      new TerminalError(
        'subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/sub"',
      ),
    );
  });

  it('misses the annotations before the manifests', () => {
    expect(() => readRegistryBundle(aTree({ 'manifests/sub/x': '' }))).toThrow(
      new TerminalError('readfile metadata/annotations.yaml: file does not exist'),
    );
  });

  it('says that there is no manifests directory as the source would', () => {
    const files = aTree({ 'metadata/annotations.yaml': '' });
    expect(() => readRegistryBundle(files, { sourceType: 'http' })).toThrow(
      new TerminalError('readdir manifests: file does not exist'),
    );
    expect(() => readRegistryBundle(files, { sourceType: 'configMaps' })).toThrow(
      new TerminalError('open manifests: file does not exist'),
    );
    expect(readRegistryBundle(files, { sourceType: 'git' }).csv.installModes).toEqual([]);
  });
});

function aliasBomb(): string {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}]`);
  return `kind: Secret\nl0: &l0 [x]\n${levels.join('\n')}\n`;
}

const key = 'operators.operatorframework.io.bundle.package.v1';

function packageNameOf(content: string | Uint8Array): string {
  return readPackageName(aTree({ 'metadata/annotations.yaml': content }), 'image');
}

describe('readPackageName', () => {
  it.each([
    ['text', `annotations:\n  ${key}: etcd\n  ${key}x: other`, 'etcd'],
    ['a number, as text', `annotations: {${key}: 1.1}`, '1.1'],
    ['a boolean, as text', `annotations: {${key}: yes}`, 'true'],
    ['another case of the keys', `Annotations: {${key.toUpperCase()}: etcd}`, 'etcd'],
    ['null', `annotations: {${key}: ~}`, ''],
    ['no such key', 'annotations: {a: b}', ''],
    ['no annotations', 'other: 1', ''],
    ['an empty file', '', ''],
  ])('reads %s', (_case, content, expected) => {
    expect(packageNameOf(content)).toBe(expected);
  });

  it.each([
    ['a scalar file', 'text', 'unrecognized type: struct (the document is a string'],
    ['bad YAML', 'a: [', 'error converting YAML to JSON: yaml: '],
    ['annotations that are a list', 'annotations: [a]', 'annotations is a list'],
    ['a name that is a map', `annotations: {${key}: {}}`, 'unrecognized type: string'],
    ['bytes that are no UTF-8', Uint8Array.of(0xff, 0xfe), 'invalid leading UTF-8 octet'],
  ])('refuses %s', (_case, content, message) => {
    expect(() => packageNameOf(content)).toThrow(/^metadata\/annotations\.yaml: /);
    expect(() => packageNameOf(content)).toThrow(message);
  });

  it.each([
    ['image', 'readfile metadata/annotations.yaml: file does not exist'],
    ['http', 'readfile metadata/annotations.yaml: file does not exist'],
    ['upload', 'readfile metadata/annotations.yaml: file does not exist'],
    ['git', 'open metadata/annotations.yaml: file does not exist'],
    ['configMaps', 'open metadata/annotations.yaml: file does not exist'],
  ])('says that content of type %s has no annotations', (sourceType, message) => {
    expect(() => readPackageName(aTree({ 'metadata/other.yaml': '' }), sourceType)).toThrow(
      new TerminalError(message),
    );
  });
});

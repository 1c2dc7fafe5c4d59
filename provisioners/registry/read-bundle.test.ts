import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../core/sdk.ts';
import { aCsvManifest, aRegistryTree, aTree } from '../../test/helpers/registry-bundle.ts';
import { readRegistryBundle } from './read-bundle.ts';

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

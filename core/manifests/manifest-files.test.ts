import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { TerminalError } from '../errors.ts';
import { checkPlainObjects, objectsOf, readPlainBundle } from './manifest-files.ts';
import { toYaml } from './write-yaml.ts';

const path = 'manifests/manifest.yaml';
const maxObjects = 3;

function complaint(check: () => unknown): string {
  try {
    check();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };

describe('checkPlainObjects', () => {
  it.each<[string, readonly object[], string]>([
    ['what is fine', [object, { kind: 'A' }, { ...object, metadata: null }], ''],
    ['a list of what is fine', [{ kind: 'AList', items: [{}, object] }], ''],
    ['no object', [], 'zero objects'],
    ['an empty list', [{ kind: 'List', items: [] }], 'zero objects'],
    ['a list of too many', [{ kind: 'AList', items: [{}, {}, {}, {}] }], 'more than 3 objects'],
    ['no kind', [object, { b: '<', a: 1 }], `Object 'Kind' is missing in '{"a":1,"b":"\\u003c"}'`],
    ['no kind in a list', [{ kind: 'List', items: [{}] }], `Object 'Kind' is missing in '{}'`],
    ['an item that is none', [{ kind: 'AList', items: [1] }], 'cannot unmarshal number'],
    ['items that are none', [{ kind: 'List', items: {} }], 'decodeList.items of type []json'],
    [
      'other metadata',
      [{ kind: 'A', metadata: { labels: { a: 1 } } }],
      'ObjectMeta.metadata.labels',
    ],
    ['what is too large', [{ ...object, data: 'é'.repeat(2 ** 21) }], 'Secret "a" has 4194'],
  ])('reports %s as reading it would', (_, objects, expected) => {
    const found = complaint(() =>
      checkPlainObjects({ path, objects: objects as readonly KubernetesObject[] }, maxObjects),
    );
    const files = aTree({ [path]: toYaml(objects) });
    expect(found).toBe(complaint(() => readPlainBundle(files, { maxObjects })));
    expect(found).toContain(expected);
  });

  it('counts them', () => {
    const objects = [object, object, object, object] as unknown as readonly KubernetesObject[];
    expect(complaint(() => checkPlainObjects({ path, objects }, maxObjects))).toBe(
      'get objects from bundle manifests: bundle has more than 3 objects (--max-content-entries): split it',
    );
  });
});

describe('objectsOf', () => {
  const named = (name: string) => ({ ...object, metadata: { name } });

  it('gives the objects of all files in order, identical ones once, and none of other folders', () => {
    const files = aTree({
      'manifests/b.yaml': toYaml([named('b'), named('a'), named('b')]),
      'manifests/a.yaml': toYaml([{ ...named('a'), data: { a: 'eA==' } }]),
      'README.yaml': toYaml([named('c')]),
    });
    expect(objectsOf(files)).toEqual([
      { ...named('a'), data: { a: 'eA==' } },
      named('b'),
      named('a'),
    ]);
  });

  it.each([
    ['without the folder', { 'a.yaml': '' }, 'readdir manifests: file does not exist'],
    [
      'of more objects than may be',
      { [path]: toYaml([named('a'), named('b'), named('c'), named('d')]) },
      'error parsing manifests/manifest.yaml: bundle has more than 3 objects (--max-content-entries): split it',
    ],
  ])('refuses content %s', (_, texts, problem) => {
    const read = () => objectsOf(aTree(texts), { maxObjects });
    expect(read).toThrow(TerminalError);
    expect(complaint(read)).toBe(`read bundle objects from bundle: ${problem}`);
  });
});

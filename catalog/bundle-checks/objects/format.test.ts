import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { format } from './format.ts';

const prefix = 'operators.operatorframework.io.bundle.';
const good: Readonly<Record<string, string>> = {
  mediatype: 'registry+v1',
  manifests: 'manifests/',
  metadata: 'metadata/',
  package: 'pkg',
  channels: 'stable',
};

function annotated(values: Readonly<Record<string, unknown>>, path = 'metadata/annotations.yaml') {
  const entries = Object.entries(values).map(([key, value]) => [`${prefix}${key}.v1`, value]);
  return aBundleWith(
    {},
    {
      'metadata/annotations.yaml': '',
      [path]: stringifyJson({ annotations: Object.fromEntries(entries) }, 1),
    },
  );
}

const channels = 'operators.operatorframework.io.bundle.channels.v1';

describe('annotations', () => {
  it.each([
    [good, []],
    [{ ...good, manifests: 'anything' }, []],
    [{ ...good, package: '' }, []],
    [
      { ...good, channels: undefined },
      [`E metadata/annotations.yaml:2 Missing annotation "${channels}"`],
    ],
    [
      { ...good, channels: '' },
      [`E metadata/annotations.yaml:7 Expecting annotation "${channels}" to have non-empty value`],
    ],
    [
      { ...good, 'channel.default': null },
      [
        `E metadata/annotations.yaml:8 Expecting annotation "${prefix}channel.default.v1" to have non-empty value`,
      ],
    ],
    [
      { ...good, mediatype: 'plain+v0' },
      [
        `E metadata/annotations.yaml:3 Expecting annotation "${prefix}mediatype.v1" to have value "registry+v1" instead of "plain+v0"`,
      ],
    ],
  ])('%j', (values, expected) => {
    expect(found(format, annotated(values))).toEqual(expected);
  });

  it('are found in any file of metadata/', () => {
    expect(found(format, annotated(good, 'metadata/foo.txt'))).toEqual([]);
    expect(found(format, aTree({ 'metadata/annotations.yaml': 'a: [' }))).toEqual([
      'E Could not find annotations file',
    ]);
  });
});

describe('files', () => {
  function lines(files: Readonly<Record<string, string>>): string[] {
    const { files: annotations } = annotated(good);
    const text = Buffer.from(annotations.get('metadata/annotations.yaml') ?? []).toString();
    return found(format, aBundleWith({}, { 'metadata/annotations.yaml': text, ...files }));
  }
  const secret = stringifyJson(anObject('Secret'));

  it('have one object each, for tools that read no more', () => {
    expect(lines({ 'manifests/a.yaml': `${secret}\n---\n${secret}\n---\n${secret}` })).toEqual([
      'W manifests/a.yaml:3 found more than one document inside a.yaml, using only the first one',
    ]);
    expect(lines({ 'manifests/a.json': `${secret}\n\n${secret}` })).toEqual([
      'W manifests/a.json:3 found more than one document inside a.json, using only the first one',
    ]);
  });

  it('begin with it', () => {
    expect(lines({ 'manifests/a.yaml': `---\n# c\n${secret}` })).toEqual([]);
    expect(lines({ 'manifests/a.yaml': `# c\n${secret}` })).toEqual([]);
    expect(lines({ 'manifests/a.yaml': `# c\n---\n${secret}` })).toEqual([
      expect.stringContaining('W manifests/a.yaml:3 a.yaml has a comment before its first "---"'),
    ]);
  });

  it('are not hidden, and one of them is the CSV', () => {
    expect(lines({ 'manifests/.a.yaml': secret })).toEqual([
      'E manifests/.a.yaml bundle manifests dir has hidden file: manifests/.a.yaml',
    ]);
    const csv = stringifyJson({ ...anObject('ClusterServiceVersion'), apiVersion: 'a/v1' });
    expect(lines({ 'manifests/second.yaml': csv })).toEqual([
      'E manifests/second.yaml:1 invalid bundle: contains multiple CSVs',
    ]);
  });
});

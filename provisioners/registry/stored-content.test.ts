import { describe, expect, it } from 'vitest';
import { type BundleFiles, defaultLimits } from '../../core/sdk.ts';
import { anObject, aTree } from '../../test/helpers/registry-bundle.ts';
import { originalContent, plainContent, storedContent } from './stored-content.ts';

const converted = plainContent([anObject('Secret')], defaultLimits);
const files = aTree({
  'manifests/csv.yaml': 'kind: ClusterServiceVersion',
  'manifests/sub/': '',
  'metadata/annotations.yaml': 'annotations: {}',
  'tests/scorecard/config.yaml': 'x',
  'manifestsX/y': 'x',
});

function paths(content: BundleFiles): string[] {
  return [...content.files.keys()];
}

describe('what is stored', () => {
  it('is the conversion, and the files that it was made from', () => {
    const stored = storedContent(files, converted, defaultLimits);
    expect(paths(stored)).toEqual([
      'bundle/manifests/csv.yaml',
      'bundle/metadata/annotations.yaml',
      'manifests/manifest.yaml',
    ]);
    const original = originalContent(stored);
    expect(original?.files).toEqual(
      new Map([...files.files].filter(([path]) => /^(manifests|metadata)\//.test(path))),
    );
    expect([...(original?.directories ?? [])]).toEqual(['manifests', 'manifests/sub', 'metadata']);
  });

  it('has no conversion where there is none without a spec.config', () => {
    expect(paths(storedContent(files, undefined, defaultLimits))).not.toContain(
      'manifests/manifest.yaml',
    );
  });

  it.each([
    ['bytes', { maxBytes: 80 }],
    ['entries', { maxEntries: 6 }],
    ['a path', { maxPathLength: 30 }],
    ['depth', { maxDepth: 2 }],
  ])('is the conversion alone where both pass a limit of %s', (_case, limit) => {
    const limits = { ...defaultLimits, ...limit };
    const stored = storedContent(files, converted, limits);
    expect(stored).toBe(converted);
    expect(originalContent(stored)).toBeUndefined();
    expect(() => storedContent(files, undefined, { ...limits, maxBytes: 40 })).toThrow('limit');
  });
});

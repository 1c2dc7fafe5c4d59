import { describe, expect, test } from 'vitest';
import { type BundleFiles, stringifyJson, toYaml } from '../../../core/sdk.ts';
import { aCsvManifest, aTree } from '../../../test/helpers/registry-bundle.ts';
import { opmVerdict } from './opm-verdict.ts';

const prefix = 'operators.operatorframework.io.bundle.';
const annotations = {
  [`${prefix}mediatype.v1`]: 'registry+v1',
  [`${prefix}manifests.v1`]: 'manifests/',
  [`${prefix}metadata.v1`]: 'metadata/',
  [`${prefix}package.v1`]: 'pkg',
  [`${prefix}channels.v1`]: 'stable',
};
const install = { strategy: 'deployment', spec: { deployments: [] } };

function errorsOf(tree: BundleFiles): readonly string[] {
  const { format, content } = opmVerdict(tree);
  return [...format, ...content];
}

/** The real opm judges the same and more in test/tools. */
function judged(csv: object, files: Readonly<Record<string, string>> = {}): readonly string[] {
  const tree = aTree({
    'metadata/annotations.yaml': stringifyJson({ annotations }),
    'manifests/csv.yaml': toYaml([aCsvManifest({ displayName: 'Pkg', install, ...csv })]),
    ...files,
  });
  return errorsOf(tree);
}

const owned = { name: 'things.example.com', version: 'v1', kind: 'Thing' };

describe('opm', () => {
  test('accepts a bundle with nothing wrong', () => {
    expect(judged({})).toEqual([]);
  });

  test('says what folders are not there, and nothing else', () => {
    expect(errorsOf(aTree({ 'a.yaml': '' }))).toEqual([
      'Unable to locate manifests directory',
      'Unable to locate metadata directory',
    ]);
  });

  test('does not look at objects where the format is wrong', () => {
    const empty = stringifyJson({ annotations: { ...annotations, [`${prefix}channels.v1`]: '' } });
    expect(judged({ installModes: [] }, { 'metadata/annotations.yaml': empty })).toEqual([
      `Expecting annotation "${prefix}channels.v1" to have non-empty value`,
    ]);
  });

  test.each([
    [{ installModes: [] }, {}, 'Error: Value : (pkg.v1.0.0) install modes not found'],
    [{ displayName: '' }, {}, 'Error: Field Spec.DisplayName, Value field: required field missing'],
    [
      { customresourcedefinitions: { owned: [{ ...owned, group: 'example.com' }] } },
      {},
      'Error: Value {example.com Thing things.example.com v1}: owned CRD things.example.com/v1 not found in bundle "pkg.v1.0.0"',
    ],
    [
      {},
      { 'manifests/pod.yaml': 'kind: Pod' },
      'Pod is not supported type for registryV1 bundle: manifests/pod.yaml',
    ],
    [{}, { 'manifests/a': '' }, 'EOF'],
    [
      {},
      { 'manifests/a.yaml': 'kind: Secret\nmetadata: {name: a, namespace: b}' },
      'error validating object metadata: metadata.namespace: Forbidden: not allowed on this type. &{{Secret } {a  b    0 0001-01-01 00:00:00 +0000 UTC <nil> <nil> map[] map[] [] [] []}}',
    ],
    [
      {},
      { 'manifests/__proto__': '{"__proto__": 1}' },
      expect.stringContaining("Object 'Kind' is missing in"),
    ],
  ])('refuses %j with %j', (csv, files, message) => {
    expect(judged(csv, files)).toEqual([message]);
  });
});

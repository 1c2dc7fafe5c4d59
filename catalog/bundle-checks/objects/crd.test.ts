import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { crd } from './crd.ts';

const names = { plural: 'apples', singular: 'apple', kind: 'Apple', listKind: 'AppleList' };
const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
};
const good = { group: 'example.com', names, scope: 'Namespaced', versions: [version] };

function lines(
  spec: object,
  metadata: object = {},
  apiVersion = 'apiextensions.k8s.io/v1',
): string[] {
  const object = {
    apiVersion,
    kind: 'CustomResourceDefinition',
    metadata: { name: 'apples.example.com', ...metadata },
    spec: { ...good, ...spec },
  };
  const files = aBundleWith({}, { 'manifests/crd.json': stringifyJson(object, 2) });
  return found(crd, files).map((line) => line.replace(/^E manifests\/crd\.json:\d+ /, ''));
}

const storage =
  'spec.versions: Invalid value: must have exactly one version marked as storage version';
const preserve =
  'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';

describe('spec', () => {
  it.each([
    [{}, []],
    [{ names: { plural: 'apples', kind: 'Apple' } }, []],
    [{ scope: undefined }, ['spec.scope: Required value']],
    [
      { scope: 'All' },
      ['spec.scope: Unsupported value: "All": supported values: "Cluster", "Namespaced"'],
    ],
    [
      { group: 'other.com' },
      [
        'metadata.name: Invalid value: "apples.example.com": must be spec.names.plural+"."+spec.group',
      ],
    ],
    [
      { versions: [] },
      ['spec.versions: Invalid value: []: must have exactly one version marked as storage version'],
    ],
    [{ versions: [{ ...version, storage: false }] }, [storage]],
    [
      { versions: [version, version] },
      ['spec.versions[1].name: Invalid value: "v1": must contain unique version names', storage],
    ],
    [
      { versions: [{ ...version, schema: undefined }] },
      ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
    ],
    [
      { versions: [{ ...version, name: 'V1' }] },
      [
        expect.stringContaining(
          'spec.versions[0].name: Invalid value: "V1": a DNS-1035 label must',
        ),
      ],
    ],
    [{ preserveUnknownFields: true }, [preserve]],
    [{ preserveUnknownFields: false }, []],
    [{ names: { ...names, kind: '' } }, ['spec.names.kind: Required value']],
    [
      { names: { ...names, kind: 'Ap ple' } },
      [
        expect.stringContaining(
          'spec.names.kind: Invalid value: "Ap ple": may have mixed case, but',
        ),
      ],
    ],
    [
      { names: { ...names, shortNames: ['ok', 'No'] } },
      [expect.stringContaining('spec.names.shortNames[1]: Invalid value: "No": a DNS-1035')],
    ],
    [
      { names: { ...names, listKind: 'Apple' } },
      ['spec.names.listKind: Invalid value: "Apple": kind and listKind may not be the same'],
    ],
  ])('%j', (spec, expected) => {
    expect(lines(spec)).toEqual(expected);
  });
});

it('wants protected groups approved', () => {
  const spec = { group: 'apps.k8s.io' };
  const annotated = (value: string) => ({
    name: 'apples.apps.k8s.io',
    annotations: { 'api-approved.kubernetes.io': value },
  });
  const required =
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';
  expect(lines(spec, { name: 'apples.apps.k8s.io' })).toEqual([required]);
  expect(lines(spec, annotated('yes'))).toEqual([
    expect.stringContaining('Invalid value: "yes": protected groups must have approval annotation'),
  ]);
  expect(lines(spec, annotated('https://example.com/1'))).toEqual([]);
  expect(lines(spec, annotated('unapproved, for now'))).toEqual([]);
});

it('leaves former versions to the class', () => {
  expect(lines({ versions: [] }, {}, 'apiextensions.k8s.io/v1beta1')).toEqual([]);
});

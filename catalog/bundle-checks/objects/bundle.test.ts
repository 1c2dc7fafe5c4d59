import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { bundle } from './bundle.ts';

function aCrd(kind: string, ...versions: readonly string[]): string {
  const names = { plural: `${kind.toLowerCase()}s`, kind };
  return stringifyJson({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.example.com` },
    spec: { group: 'example.com', names, versions: versions.map((name) => ({ name })) },
  });
}

const owned = (kind: string, version = 'v1') => ({
  name: `${kind.toLowerCase()}s.example.com`,
  version,
  kind,
});

it('has CRDs that are owned, and owns what is there', () => {
  const spec = { customresourcedefinitions: { owned: [owned('A'), owned('B'), owned('C', 'v2')] } };
  const files = aBundleWith(
    { spec },
    {
      'manifests/a.yaml': aCrd('A', 'v1', 'v2'),
      'manifests/c.yaml': aCrd('C', 'v1', 'v1'),
      'manifests/d.yaml': aCrd('D', 'v1'),
    },
  );
  expect(found(bundle, files).map((line) => line.replace(/csv\.yaml:\d+/, 'csv'))).toEqual([
    'E manifests/c.yaml:1 duplicate CRD "example.com/v1, Kind=C" in bundle "pkg.v1.0.0"',
    'E manifests/csv owned CRD "example.com/v1, Kind=B" not found in bundle "pkg.v1.0.0"',
    'E manifests/csv owned CRD "example.com/v2, Kind=C" not found in bundle "pkg.v1.0.0"',
    'E manifests/d.yaml:1 CRD "example.com/v1, Kind=D" is present in bundle "pkg.v1.0.0" but not defined in CSV',
  ]);
});

it('does not mind a group in owned, which some tool trips over', () => {
  const spec = { customresourcedefinitions: { owned: [{ ...owned('A'), group: 'example.com' }] } };
  expect(found(bundle, aBundleWith({ spec }, { 'manifests/a.yaml': aCrd('A', 'v1') }))).toEqual([]);
});

it('has no ServiceAccount of a deployment', () => {
  const template = { spec: { serviceAccountName: 'web' } };
  const spec = { install: { spec: { deployments: [{ name: 'web', spec: { template } }] } } };
  const account = (name: string) =>
    stringifyJson({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  const files = { 'manifests/a.yaml': account('web'), 'manifests/b.yaml': account('other') };
  expect(found(bundle, aBundleWith({ spec }, files))).toEqual([
    'E manifests/a.yaml:1 invalid service account found in bundle. This service account web in your bundle is not valid, because a service account with the same name was already specified in your CSV. If this was unintentional, please remove the service account manifest from your bundle. If it was intentional to specify a separate service account, please rename the SA in either the bundle manifest or the CSV.',
  ]);
});

it('fits into a ConfigMap', () => {
  const sized = (bytes: number) => {
    const data = { a: randomBytes(bytes).toString('hex') };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
    return found(bundle, aBundleWith({}, { 'manifests/a.yaml': stringifyJson(object) }));
  };
  expect(sized(500_000)).toEqual([]);
  expect(sized(640_000)).toEqual([
    expect.stringMatching(
      /^W nearing maximum bundle compressed size with gzip: size=~9\d\d\.\d kB , max=1\.0 MB\. Bundle uncompressed size is 1\.3 MB$/,
    ),
  ]);
  expect(sized(800_000)).toEqual([
    expect.stringMatching(
      /^E maximum bundle compressed size with gzip size exceeded: size=~1\.2 MB , max=1\.0 MB\. Bundle uncompressed size is 1\.6 MB$/,
    ),
  ]);
});

it('names images that can be copied', () => {
  const images = [
    'quay.io/a/b:v1',
    'b@sha256:' + 'a'.repeat(64),
    'localhost:5000/x',
    '',
    'oci://a',
    'A/b',
  ];
  const relatedImages = images.map((image) => ({ name: 'x', image }));
  const lines = found(bundle, aBundleWith({ spec: { relatedImages } }));
  expect(lines.map((line) => line.replace(/^E \S+ /, ''))).toEqual([
    'relatedImages[3] has an empty image field',
    'relatedImages[4] has an invalid image pullspec "oci://a": invalid reference format',
  ]);
});

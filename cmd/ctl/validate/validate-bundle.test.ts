import { expect, test } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import {
  aCsvManifest,
  anObject,
  aRegistryTree,
  aTree,
} from '../../../test/helpers/registry-bundle.ts';
import { problemLine } from './problem.ts';
import { validateBundle } from './validate-bundle.ts';

const plain = 'plain';

function linesOf(...[files, className]: Parameters<typeof validateBundle>): string[] {
  return validateBundle(files, className).problems.map(problemLine);
}

function manifests(...objects: readonly object[]): string {
  return objects.map((object) => stringifyJson(object)).join('\n---\n');
}

test('a good plain bundle has no problems', () => {
  const files = aTree({ 'manifests/a.yaml': manifests(anObject('ConfigMap')) });
  expect(validateBundle(files)).toEqual({
    class: 'core-rukpak-io-plain',
    objects: 1,
    problems: [],
  });
});

test('a plain bundle is told everything at once, with the file and the line', () => {
  const files = aTree({
    'manifests/bad.yaml': 'apiVersion: v1\nkind: [\n',
    'manifests/nokind.yaml': 'apiVersion: v1\nmetadata: {name: x}\n',
    'manifests/deep/x.yaml': 'kind: Secret\n',
    'manifests/objects.yaml': manifests(
      { kind: 'ConfigMap', metadata: { name: 'noversion' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'x-' } },
      anObject('Service', { name: 'twice', namespace: 'far' }),
    ),
    'manifests/more.yaml': manifests(anObject('Service', { name: 'twice', namespace: 'far' })),
  });
  const lines = linesOf(files);
  expect(lines).toEqual([
    expect.stringMatching(/^error: manifests\/bad\.yaml:\d+: .*; correct the file$/),
    'error: manifests/deep: subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/deep"; move its files into manifests/ itself, or out of it',
    expect.stringMatching(/^error: manifests\/nokind\.yaml: Object 'Kind' is missing in/),
    'error: manifests/objects.yaml: ConfigMap "noversion" has no apiVersion; add it, for example "apiVersion: v1"',
    'error: manifests/objects.yaml: Secret "": metadata.name must be set (metadata.generateName is not supported); correct its metadata',
    'warning: manifests/more.yaml: namespace "far" is not in the bundle (2 of its objects are to go there); make it before the bundle is installed, or add it to the bundle',
    'warning: manifests/objects.yaml: Service "far/twice" is there 2 times (manifests/more.yaml and manifests/objects.yaml); keep one of them',
  ]);
});

test('stages that are no numbers, or too late, are errors', () => {
  const staged = (stage: string) => ({ annotations: { 'core.rukpak.io/stage': stage } });
  const files = aTree({
    'manifests/a.yaml': manifests(anObject('Namespace', { name: 'web', ...staged('5') })),
    'manifests/b.yaml': manifests(
      anObject('ConfigMap', { name: 'early', namespace: 'web' }),
      anObject('ConfigMap', { name: 'odd', namespace: 'web', ...staged('last') }),
    ),
  });
  expect(linesOf(files)).toEqual([
    'error: manifests/b.yaml: ConfigMap "odd": annotation core.rukpak.io/stage is "last": it must be a whole number of at most six digits, in quotes, such as "5" or "-1"; correct its metadata',
    'error: manifests/b.yaml: ConfigMap "early" in namespace "web" is in stage -10, before stage 5 of Namespace "web" that it needs: change the annotation core.rukpak.io/stage of one of them; a higher number comes later',
  ]);
});

test('what only the class can tell is an error too', () => {
  expect(linesOf(aTree({ 'manifests/': '' }))).toEqual([
    'error: invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object; correct the bundle',
  ]);
  expect(linesOf(aTree({ 'x.yaml': '' }))).toEqual([
    expect.stringContaining('readdir manifests: file does not exist'),
  ]);
});

test('more objects than core takes by default are an error', () => {
  const list = Array.from({ length: 20_001 }, (_, index) =>
    anObject('ConfigMap', { name: `c${index}` }),
  );
  const files = aTree({ 'manifests/a.yaml': manifests(...list) });
  expect(linesOf(files)).toEqual([
    expect.stringContaining('bundle has more than 20000 objects (--max-content-entries): split it'),
  ]);
});

test('a CRD of a version that is gone is refused', () => {
  const crd = {
    ...anObject('CustomResourceDefinition'),
    apiVersion: 'apiextensions.k8s.io/v1beta1',
  };
  expect(linesOf(aTree({ 'manifests/a.yaml': manifests(crd) }), plain)).toEqual([
    expect.stringContaining('is of apiextensions.k8s.io/v1beta1, which no cluster'),
  ]);
});

test('every validator of the registry class is heard, and every object that it refuses', () => {
  const csv = aCsvManifest({
    installModes: [],
    webhookdefinitions: [{}],
    apiservicedefinitions: { owned: [{}] },
    customresourcedefinitions: { owned: [{ name: 'as.example.com' }] },
  });
  const files = aRegistryTree(csv, {
    'manifests/pod.yaml': manifests(anObject('Pod')),
    'manifests/job.yaml': manifests(anObject('Job')),
    'manifests/broken.yaml': 'a: [',
  });
  expect(linesOf(files).map((line) => line.replace(/;.*/, ''))).toEqual([
    expect.stringMatching(/^error: manifests\/broken\.yaml/),
    'error: manifests/csv.yaml: AllNamespace install mode must be enabled',
    'error: manifests/csv.yaml: apiServiceDefintions are not supported',
    'error: manifests/csv.yaml: webhookDefinitions are not supported',
    'error: manifests/job.yaml: bundle contains unsupported resource: Name: x, Kind: Job',
    'error: manifests/pod.yaml: bundle contains unsupported resource: Name: x, Kind: Pod',
    'warning: manifests/csv.yaml: owned CRD "as.example.com" not found in bundle',
  ]);
});

test('a registry bundle without annotations or CSV says so', () => {
  const files = aTree({ 'manifests/a.yaml': manifests(anObject('Secret')) });
  expect(linesOf(files, 'registry')).toEqual([
    expect.stringContaining('there is no ClusterServiceVersion in manifests/'),
    expect.stringContaining('manifests: AllNamespace install mode must be enabled'),
    expect.stringContaining(
      'metadata/annotations.yaml: readfile metadata/annotations.yaml: file does not exist',
    ),
  ]);
});

test('a field of the CSV with another type is named', () => {
  const [line] = linesOf(aRegistryTree(aCsvManifest({ installModes: 'all' })));
  expect(line).toMatch(/^error: manifests\/csv\.yaml: .*spec\.installModes is a string/);
});

test('a registry bundle may name any namespace: its objects go to another one', () => {
  const files = aRegistryTree(aCsvManifest({}, { namespace: 'placeholder' }), {
    'manifests/secret.yaml': manifests(anObject('Secret', { name: 'x', namespace: 'far' })),
  });
  expect(validateBundle(files)).toMatchObject({ objects: 2, problems: [] });
});

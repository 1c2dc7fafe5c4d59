import { describe, expect, test } from 'vitest';
import { type BundleFiles, stringifyJson, toYaml } from '../../core/sdk.ts';
import {
  aCsvManifest,
  anObject,
  aRegistryTree,
  aTree,
} from '../../test/helpers/registry-bundle.ts';
import { problemLine } from './problem.ts';
import { refusalsOf, validateBundle } from './validate-bundle.ts';

const plain = 'plain';

/** What the class has to say, without other tools' checks. */
function linesOf(files: BundleFiles, className?: string): string[] {
  const { problems } = validateBundle(files, className === undefined ? {} : { className });
  return problems.filter(({ check }) => check === undefined).map(problemLine);
}

function manifests(...objects: readonly object[]): string {
  return objects.map((object) => stringifyJson(object)).join('\n---\n');
}

test('a good plain bundle has no problems', () => {
  const files = aTree({ 'manifests/a.yaml': manifests(anObject('ConfigMap')) });
  expect(validateBundle(files)).toEqual({
    class: 'core-rukpak-io-plain',
    installable: true,
    objects: 1,
    problems: [],
  });
});

test('content without a folder of manifests is told where they go', () => {
  expect(linesOf(aTree({ 'a.yaml': manifests(anObject('ConfigMap')) }))).toEqual([
    'error: get objects from bundle manifests: readdir manifests: file does not exist; put its objects into a folder manifests',
  ]);
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
    'error: manifests/objects.yaml:1: ConfigMap "noversion" has no apiVersion; add it, for example "apiVersion: v1"',
    'error: manifests/objects.yaml:3: Secret "": metadata.name must be set (metadata.generateName is not supported); correct its metadata',
    'warning: manifests/more.yaml:1: namespace "far" is not in the bundle (2 of its objects are to go there); make it before the bundle is installed, or add it to the bundle',
    'warning: manifests/objects.yaml:5: Service "far/twice" is there 2 times (manifests/more.yaml and manifests/objects.yaml); keep one of them',
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
    'error: manifests/b.yaml:1: ConfigMap "early" in namespace "web" is in stage -10, before stage 5 of Namespace "web" that it needs: change the annotation core.rukpak.io/stage of one of them; a higher number comes later',
    'error: manifests/b.yaml:3: ConfigMap "odd": annotation core.rukpak.io/stage is "last": it must be a whole number of at most six digits, in quotes, such as "5" or "-1"; correct its metadata',
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

test('more objects than core takes by default are an error', { tags: ['slow'] }, () => {
  const list = Array.from(
    { length: 20_001 },
    (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c${index}\n`,
  );
  const files = aTree({ 'manifests/a.yaml': list.join('---\n') });
  expect(linesOf(files)).toEqual([
    expect.stringContaining('bundle has more than 20000 objects (--max-content-entries): split it'),
  ]);
});

test('the refusals of a bundle alone are the same', () => {
  const files = aTree({
    'manifests/a.yaml': 'apiVersion: apps/v1\nkind: Deplyment\nmetadata: {name: a}\n',
  });
  const { problems } = validateBundle(files);
  expect(refusalsOf(files, {}, 1)).toEqual(problems);
  const good = aTree({ 'manifests/a.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n' });
  expect(refusalsOf(good, {}, 20_000)).toEqual([]);
  expect(refusalsOf(good, {}, 20_001).map(problemLine)).toEqual([
    'error: bundle has more than 20000 objects (--max-content-entries): split it; correct the bundle',
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
  const webhook = { type: 'ConversionWebhook', deploymentName: 'web', conversionCRDs: [] };
  const csv = aCsvManifest({
    installModes: [],
    webhookdefinitions: [
      { ...webhook, generateName: 'a' },
      { ...webhook, type: 'Odd', generateName: 'b' },
      { ...webhook, generateName: 'c' },
    ],
    apiservicedefinitions: { owned: [{ name: 'x', group: 'g.io', version: 'v1', kind: 'K' }] },
  });
  const files = aRegistryTree(undefined, {
    'manifests/csv.yaml': toYaml([csv]),
    'manifests/pod.yaml': manifests(anObject('Secret'), anObject('Pod')),
    'manifests/job.yaml': manifests(anObject('Job')),
    'manifests/broken.yaml': 'a: [',
  });
  expect(linesOf(files)).toEqual([
    expect.stringMatching(/^error: manifests\/broken\.yaml/),
    'error: manifests/csv.yaml:7: supported install modes [] do not support targeting all namespaces; the operator supports none, correct spec.installModes of its CSV',
    expect.stringMatching(
      /^error: manifests\/csv\.yaml:9: webhook .* name 'a' references non-exist/,
    ),
    expect.stringMatching(
      /^error: manifests\/csv\.yaml:13: webhook 'b' has unknown type 'Odd'; corr/,
    ),
    expect.stringMatching(
      /^error: manifests\/csv\.yaml:13: webhook .* name 'b' references non-exi/,
    ),
    expect.stringMatching(
      /^error: manifests\/csv\.yaml:17: webhook .* name 'c' references non-exi/,
    ),
    expect.stringMatching(
      /^error: manifests\/csv\.yaml:23: owned APIService 'v1\.g\.io' references/,
    ),
    'error: manifests/job.yaml:1: bundle contains unsupported resource: Name: x, Kind: Job; remove the object, or install it by a plain bundle',
    'error: manifests/job.yaml:1: v1 has no kind "Job" in Kubernetes 1.36; write "apiVersion: batch/v1"',
    expect.stringMatching(/^error: manifests\/pod\.yaml:3: bundle contains unsupported/),
  ]);
});

test('CRDs of a version that is gone are refused one by one, where they are', () => {
  const crd = (name: string) => ({
    ...anObject('CustomResourceDefinition', { name }),
    apiVersion: 'apiextensions.k8s.io/v1beta1',
  });
  const files = aRegistryTree(undefined, {
    'manifests/a.yaml': manifests(crd('as.example.com')),
    'manifests/b.yaml': manifests(crd('bs.example.com')),
  });
  expect(linesOf(files)).toEqual([
    expect.stringMatching(/^error: manifests\/a\.yaml:1: .*as\.example\.com is of.*v1beta1; /),
    expect.stringMatching(/^error: manifests\/b\.yaml:1: .*bs\.example\.com is of.*v1beta1; /),
  ]);
});

test('a bundle that watches some namespaces only needs a config, which is no fault of it', () => {
  const installModes = [{ type: 'OwnNamespace', supported: true }];
  const files = aRegistryTree(aCsvManifest({ installModes }));
  expect(linesOf(files)).toEqual([
    'warning: manifests/csv.yaml:1: AllNamespace install mode must be enabled, or the BundleDeployment must have a spec.config; write spec.config.watchNamespace: pkg-system',
  ]);
  expect(validateBundle(files)).toMatchObject({ installable: true, objects: 1 });
});

test('with a config, that alone counts', () => {
  const installModes = [{ type: 'OwnNamespace', supported: true }];
  const files = aRegistryTree(aCsvManifest({ installModes }));
  const own = { installNamespace: 'a', watchNamespaces: ['a'], overrides: {} };
  const { problems, installable } = validateBundle(files, { config: own });
  expect([installable, problems.filter(({ check }) => check === undefined)]).toEqual([true, []]);
  const other = { installNamespace: 'a', watchNamespaces: ['b'], overrides: {} };
  expect(validateBundle(files, { config: other }).problems[0]).toEqual({
    severity: 'error',
    file: 'manifests/csv.yaml',
    line: 1,
    message: 'supported install modes [OwnNamespace] do not support target namespaces [b]',
    fix: 'write spec.config.watchNamespace: a, or spec.config.installNamespace: b',
  });
});

test('what other tools alone refuse is told apart, and can be installed', () => {
  const found = validateBundle(aRegistryTree());
  expect(found).toMatchObject({ installable: true, objects: 1 });
  expect(found.problems.map(problemLine)).toContainEqual(
    'error: manifests/csv.yaml:1: [csv] Field Spec.DisplayName, Value field: required field missing; set spec.displayName',
  );
  expect(found.problems.every(({ check }) => check !== undefined)).toBe(true);
});

test('a registry bundle without annotations or CSV says so', () => {
  const files = aTree({ 'manifests/a.yaml': manifests(anObject('Secret')) });
  expect(linesOf(files, 'registry')).toEqual([
    expect.stringContaining('there is no ClusterServiceVersion in manifests/'),
    expect.stringContaining(
      'metadata/annotations.yaml: readfile metadata/annotations.yaml: file does not exist',
    ),
  ]);
});

test('a field of the CSV with another type is named', () => {
  const [line] = linesOf(aRegistryTree(aCsvManifest({ installModes: 'all' })));
  expect(line).toMatch(/^error: manifests\/csv\.yaml:1: .*spec\.installModes is a string/);
});

test('a registry bundle may name any namespace: its objects go to another one', () => {
  const files = aRegistryTree(aCsvManifest({}, { namespace: 'placeholder' }), {
    'manifests/secret.yaml': manifests(anObject('Secret', { name: 'x', namespace: 'far' })),
  });
  expect(linesOf(files)).toEqual([]);
  expect(validateBundle(files)).toMatchObject({ objects: 2 });
});

describe('the bundle’s own CRDs', () => {
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer' } },
      },
    },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'roles.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Role', plural: 'roles' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema },
          additionalPrinterColumns: [{ name: 'A', type: 'string', JSONPath: '.a' }],
        },
      ],
    },
  };
  const role = (spec: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Role',
    metadata: { name: 'a' },
    spec,
  });

  test('say what of a plain bundle does not fit them, and keys of the wrong case', () => {
    const files = aTree({
      'manifests/crd.yaml': toYaml([definition]),
      'manifests/role.yaml': toYaml([role({ size: 'x' })]),
    });
    expect(linesOf(files)).toEqual([
      'error: manifests/crd.yaml:30: CustomResourceDefinition "roles.example.com" has a printer column with JSONPath, which the API server does not know; write jsonPath',
      'error: manifests/role.yaml:2: Role "a" does not fit the bundle\'s own CRD: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"; correct it, or remove it',
    ]);
  });

  test('have objects of an operator’s bundle left out that do not fit them', () => {
    const files = (spec: object) =>
      aRegistryTree(aCsvManifest(), {
        'manifests/crd.yaml': toYaml([definition]),
        'manifests/role.yaml': toYaml([role(spec)]),
      });
    expect(linesOf(files({}))).toEqual([
      'warning: manifests/role.yaml:2: Role "a" is left out: it does not fit the bundle\'s CRD of Role: spec.size: Required value; remove it from manifests/',
    ]);
    expect(linesOf(files({ size: 'x' }))).toEqual([
      'warning: manifests/role.yaml:2: Role "a" is left out: it does not fit the bundle\'s CRD of Role: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"; remove it from manifests/',
    ]);
  });
});

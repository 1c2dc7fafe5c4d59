import { describe, expect, it } from 'vitest';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { csv } from './csv.ts';

const modes = [{ type: 'AllNamespaces', supported: true }];
const good = {
  displayName: 'Pkg',
  install: { strategy: 'deployment', spec: { deployments: [{ name: 'pkg' }] } },
  minKubeVersion: '1.25.0',
};
const metadata = { annotations: { 'alm-examples': '[]' } };
const crd = { name: 'as.example.com', version: 'v1', kind: 'A' };

function messages(spec: object, more: object = {}): string[] {
  const bundle = { spec: { ...good, ...spec }, metadata: { ...metadata, ...more } };
  return found(csv, aBundleWith(bundle)).map((line) =>
    line.replace(/ manifests\/csv\.yaml:\d+/, ''),
  );
}

it('has nothing to say of a good one', () => {
  expect(messages({})).toEqual([]);
});

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const kubeVersion =
  'csv.Spec.minKubeVersion is not informed. It is recommended you provide this information. Otherwise, it would mean that your operator project can be distributed and installed in any cluster version available, which is not necessarily the case for all projects.';
const conversion = 'only AllNamespaces InstallModeType is supported when conversionCRDs is present';

describe('spec', () => {
  it.each([
    [{ replaces: 'Pkg.v0' }, [`E spec.replaces "Pkg.v0" is invalid: ${subdomain}`]],
    [
      { replaces: `a${'.b'.repeat(32)}` },
      [`E spec.replaces "a${'.b'.repeat(32)}" is invalid: must be no more than 63 characters`],
    ],
    [{ installModes: [] }, ['E install modes not found']],
    [{ installModes: [...modes, ...modes] }, []],
    [
      { installModes: [{ type: 'AllNamespaces', supported: false }] },
      ['E none of InstallModeTypes are supported'],
    ],
    [{ webhookdefinitions: [{ conversionCRDs: ['as.example.com'] }] }, []],
    [
      {
        webhookdefinitions: [{}, { conversionCRDs: ['as.example.com'] }],
        installModes: [...modes, { type: 'OwnNamespace', supported: true }],
      },
      [`E ${conversion}`],
    ],
    [{ minKubeVersion: ' ' }, [`W ${kubeVersion}`]],
    [{ minKubeVersion: '1.25' }, ['E csv.Spec.MinKubeVersion has an invalid value: 1.25']],
    [{ displayName: '' }, ['E Field Spec.DisplayName, Value field: required field missing']],
    [{ install: {} }, ['E Field Spec.InstallStrategy, Value struct: required field missing']],
    [
      { install: { spec: {} } },
      [
        'E Field Spec.InstallStrategy.StrategyName, Value field: required field missing',
        'E Field Spec.InstallStrategy.StrategySpec.DeploymentSpecs, Value field: required field missing',
      ],
    ],
  ])('%j', (spec, expected) => {
    expect(messages(spec)).toEqual(expected);
  });
});

describe('metadata', () => {
  it.each([
    [{ name: 'Pkg' }, [`E metadata.name "Pkg" is invalid: ${subdomain}`]],
    [{ annotations: {} }, ['W annotations not found']],
    [{ annotations: { a: 'b' } }, ['W example annotations not found']],
    [
      { annotations: { 'alm-examples': '[]', 'olm.examples': '{' } },
      ['W both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`'],
    ],
    [
      { annotations: { 'alm-examples': '', 'olm.skiprange': '>1', 'OLM.targetNamespaces': '' } },
      [
        'E provided annotation OLM.targetNamespaces uses wrong case and should be olm.targetNamespaces instead',
        'E provided annotation olm.skiprange uses wrong case and should be olm.skipRange instead',
      ],
    ],
    [
      { annotations: { 'alm-examples': '[]', 'olm.properties': '[]' } },
      [
        'W found olm.properties annotation, please define these properties in metadata/properties.yaml instead',
      ],
    ],
    [{ annotations: { 'alm-examples': '{}' } }, ['E error decoding example CustomResource']],
    [{ annotations: { 'alm-examples': '[7]' } }, ['E error decoding example CustomResource']],
    [{ annotations: { 'alm-examples': '[{]' } }, [expect.stringContaining('E invalid example')]],
  ])('%j', (more, expected) => {
    expect(messages({}, more).toSorted()).toEqual(expected);
  });
});

describe('examples', () => {
  const owned = { customresourcedefinitions: { owned: [crd, { ...crd, version: 'v2' }] } };
  const example = { apiVersion: 'example.com/v1', kind: 'A' };

  it('are of what the operator brings, and there for each of it', () => {
    const examples = [example, example, { ...example, kind: 'B' }, { apiVersion: 'v1', kind: 'C' }];
    const annotations = { 'alm-examples': JSON.stringify(examples) };
    expect(messages(owned, { annotations })).toEqual([
      'E Value example.com/v1, Kind=B: example must have a provided API',
      'E Value v1, Kind=C: example must have a provided API',
      'W Value example.com/v2, Kind=A: provided API should have an example annotation',
    ]);
  });

  it('may be of owned APIServices', () => {
    const annotations = { 'olm.examples': JSON.stringify([example]) };
    const service = { name: 'as', group: 'example.com', version: 'v1', kind: 'A' };
    expect(messages({ apiservicedefinitions: { owned: [service] } }, { annotations })).toEqual([]);
  });

  it('need names of CRDs with a group', () => {
    const unnamed = { customresourcedefinitions: { owned: [{ ...crd, name: 'as' }] } };
    expect(messages(unnamed)).toEqual(["E couldn't parse plural.group from crd name: as"]);
  });
});

it('finds fields by their line', () => {
  const files = aBundleWith({
    spec: { ...good, minKubeVersion: '1', webhookdefinitions: [{ conversionCRDs: ['x'] }] },
    metadata,
  });
  const [line] = found(csv, files);
  const text = Buffer.from(files.files.get('manifests/csv.yaml') ?? []).toString();
  const number = text.split('\n').findIndex((each) => each.includes('minKubeVersion')) + 1;
  expect(line).toContain(`manifests/csv.yaml:${number} csv.Spec.MinKubeVersion`);
});

it('finds the line in examples that are written line by line', () => {
  const lines = (...examples: readonly string[]) => {
    const text = examples.map((line) => `      ${line}\n`).join('');
    const manifest = `kind: ClusterServiceVersion\nmetadata:\n  name: a.v1.0.0\n  annotations:\n    alm-examples: |-\n${text}`;
    return found(csv, aBundleWith({}, { 'manifests/csv.yaml': manifest }));
  };
  expect(lines('[{', '"apiVersion": "a/v1",', '"kind": "A"', '}]')).toContain(
    'E manifests/csv.yaml:8 Value a/v1, Kind=A: example must have a provided API',
  );
  expect(lines('[{', '"a": 1,', '}]')).toContainEqual(
    expect.stringMatching(/^E manifests\/csv\.yaml:8 invalid example: /),
  );
});

it('misses an apiVersion', () => {
  const manifest = 'kind: ClusterServiceVersion\nmetadata: {name: a.v1.0.0}\n';
  const files = aBundleWith({}, { 'manifests/csv.yaml': manifest });
  expect(found(csv, files)).toContain("E manifests/csv.yaml:1 'apiVersion' is missing");
});

import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../core/sdk.ts';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import type { Check } from '../bundle-content.ts';
import { deprecatedApis } from './deprecated-apis.ts';
import { goodPractices, objects } from './good-practices.ts';
import { capabilities, categories, operatorHub } from './operator-hub.ts';

function lines(check: Check, ...bundle: Parameters<typeof aBundleWith>): string[] {
  return found(check, aBundleWith(...bundle)).map((line) => line.replace(/ \S+:\d+ /, ' '));
}

describe('operatorhubv2', () => {
  const good = {
    provider: { name: 'me' },
    version: '1.0.0',
    minKubeVersion: '1.25.0',
    icon: [{ base64data: 'aa', mediatype: 'image/png' }],
  };
  it.each([
    [{}, []],
    [{ provider: {} }, ['E csv.Spec.Provider.Name not specified']],
    [{ version: '0.0.0' }, ['E csv.Spec.Version must be set']],
    [{ version: '' }, ['E csv.Spec.Version must be set']],
    [{ maintainers: [{ name: 'a', email: 'a@example.com' }] }, []],
    [
      { maintainers: [{ email: 'none' }] },
      [
        'E csv.Spec.Maintainers elements should contain both name and email',
        "E csv.Spec.Maintainers email none is invalid: mail: missing '@' or angle-addr",
      ],
    ],
    [{ links: [{ name: 'a', url: 'https://example.com' }] }, []],
    [{ links: [{ name: 'a' }] }, ['E csv.Spec.Links elements should contain both name and url']],
    [
      { links: [{ name: 'a', url: 'example' }] },
      ['E csv.Spec.Links url example is invalid: parse "example": invalid URI for request'],
    ],
    [{ icon: undefined }, ['W csv.Spec.Icon not specified']],
    [{ icon: [...good.icon, ...good.icon] }, ['E csv.Spec.Icon should only have one element']],
    [
      { icon: [{ mediatype: 'image/bmp' }] },
      [
        'E csv.Spec.Icon elements should contain both data and mediatype',
        'E csv.Spec.Icon image/bmp does not have a valid mediatype',
      ],
    ],
    [{ minKubeVersion: '1' }, ['E csv.Spec.MinKubeVersion has an invalid value: 1']],
  ])('%j', (spec, expected) => {
    expect(lines(operatorHub, { spec: { ...good, ...spec } })).toEqual(expected);
  });
});

it('capabilities and categories are of a list', () => {
  const annotations = { capabilities: 'Deep Insights', categories: 'Database, Monitoring' };
  expect(lines(capabilities, { metadata: { annotations } })).toEqual([]);
  expect(lines(categories, { metadata: { annotations } })).toEqual([]);
  const odd = { capabilities: 'All', categories: 'Database,Fun' };
  expect(lines(capabilities, { metadata: { annotations: odd } })).toEqual([
    'E csv.Metadata.Annotations.Capabilities "All" is not a valid capabilities level',
  ]);
  expect(lines(categories, { metadata: { annotations: odd } })).toEqual([
    'E csv.Metadata.Annotations["categories"] value "Fun" is not in the set of standard categories',
  ]);
});

describe('alpha-deprecated-apis', () => {
  const budget = {
    apiVersion: 'policy/v1beta1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'n' },
  };
  const files = { 'manifests/a.yaml': stringifyJson(budget) };
  const message =
    'this bundle is using APIs which were deprecated and removed in v1.25. More info: https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-25. Migrate the API(s) for PodDisruptionBudget: (["n"])';

  it('warns, and refuses where the version is known to have removed it', () => {
    expect(lines(deprecatedApis, {}, files)).toEqual([`W ${message}`]);
    const since = (minKubeVersion: string) =>
      lines(deprecatedApis, { spec: { minKubeVersion } }, files);
    expect(since('1.24.0')).toEqual([`W ${message}`]);
    expect(since('1.25.0')).toEqual([`E ${message}`]);
    expect(found(deprecatedApis, aBundleWith({}, files), { kubeVersion: '1.26' })).toEqual([
      `E manifests/a.yaml:1 ${message}`,
    ]);
    expect(found(deprecatedApis, aBundleWith({}, files), { kubeVersion: 'x' })).toEqual([
      'E invalid value informed via the k8s key option : x',
    ]);
  });

  it('hints at rules that may be about it', () => {
    const rules = [{ apiGroups: ['policy'], resources: ['podsecuritypolicies'], verbs: ['use'] }];
    const install = { spec: { clusterPermissions: [{ rules }] } };
    expect(lines(deprecatedApis, { spec: { install } })).toEqual([
      expect.stringMatching(
        /^W .* for podsecuritypolicies: \(\["ClusterServiceVersion\.Spec\.InstallStrategy\.StrategySpec\.ClusterPermissions\[0\]\.Rules\[0\]"\]\)$/,
      ),
    ]);
  });
});

describe('good-practices', () => {
  const container = { name: 'c', resources: { requests: { cpu: '1' } } };
  const install = (containers: readonly object[], rules: readonly object[] = []) => ({
    spec: {
      deployments: [{ name: 'd', spec: { template: { spec: { containers } } } }],
      permissions: [{ rules }],
    },
  });
  it.each([
    [{ install: install([container]) }, []],
    [{}, ['E unable to find a deployment to install in the CSV']],
    [
      { install: install([container, { name: 'e', resources: {} }]) },
      [
        expect.stringMatching(
          /^W unable to find the resource requests for the container: \(e\)\. It is recommended/,
        ),
      ],
    ],
    [
      { install: install([container]), customresourcedefinitions: { required: [{ name: 'n' }] } },
      ['W required CRD "n" has an empty description'],
    ],
    [
      {
        install: install(
          [container],
          [{ apiGroups: ['apiextensions.k8s.io'], resources: ['*'], verbs: ['create'] }],
        ),
      },
      [expect.stringMatching(/^W CSV contains permissions to create CRD\. An Operator shouldn't/)],
    ],
  ])('%j', (spec, expected) => {
    expect(lines(goodPractices, { spec })).toEqual(expected);
  });

  it('names bundles and channels as others do', () => {
    const spec = { install: install([container]) };
    expect(lines(goodPractices, { spec, metadata: { name: 'a1' } })).toEqual([
      'W csv.metadata.Name a1 is not following the recommended naming convention: <operator-name>.v<semver> e.g. memcached-operator.v0.0.1',
    ]);
    expect(lines(goodPractices, { spec, metadata: { name: 'a.v1' } })).toEqual([
      'W csv.metadata.Name a.v1 is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): https://semver.org/',
    ]);
    const annotations =
      'annotations:\n  operators.operatorframework.io.bundle.channels.v1: stable-v1,alpha,beta\n';
    expect(lines(goodPractices, { spec }, { 'metadata/annotations.yaml': annotations })).toEqual([
      'W channel(s) ["alpha" "beta"] are not following the recommended naming convention: https://olm.operatorframework.io/docs/best-practices/channel-naming',
    ]);
  });
});

it('objects do no harm', () => {
  const all = [
    { kind: 'PodDisruptionBudget', spec: { maxUnavailable: '0%' } },
    { kind: 'PodDisruptionBudget', spec: { maxUnavailable: '50%', minAvailable: '100%' } },
    { kind: 'PriorityClass', globalDefault: true },
    {
      kind: 'Role',
      rules: [{ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['create'] }],
    },
    {
      kind: 'ClusterRole',
      rules: [
        {
          apiGroups: ['security.openshift.io'],
          resources: ['securitycontextconstraints'],
          resourceNames: ['anyuid'],
          verbs: ['*'],
        },
      ],
    },
  ].map((object) => stringifyJson({ apiVersion: 'x/v1', metadata: { name: 'n' }, ...object }));
  expect(lines(objects, {}, { 'manifests/a.yaml': all.join('\n---\n') })).toEqual([
    'E maxUnavailable field cannot be set to 0 or 0%',
    'E minAvailable field cannot be set to 100%',
    'E globalDefault field cannot be set to true',
    'W RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability',
    'E RBAC includes permission to modify default securitycontextconstraints, which could impact cluster stability',
  ]);
});

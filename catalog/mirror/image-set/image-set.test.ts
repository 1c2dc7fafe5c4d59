import { describe, expect, test } from 'vitest';
import { parseImageSet } from './image-set.ts';

const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n';

function read(mirror: string, file = 'imageset.yaml') {
  return parseImageSet(`${head}mirror:\n${mirror}`, file);
}

describe('what an image set chooses', () => {
  test('packages, channels and versions of catalogs', () => {
    const set = read(`
  operators:
    - catalog: quay.example/catalogs/community:v4.18
      targetCatalog: mirrored/community
      targetTag: "4.18"
      packages:
        - name: infinispan
          minVersion: 2.4.0
        - name: kube-green
          defaultChannel: alpha
          channels:
            - name: alpha
              minVersion: 0.5.0
              maxVersion: 0.6.0
    - catalog: oci:///srv/catalog
      targetCatalog: mirrored/own
      full: true
  additionalImages: [{ name: quay.example/tools/must-gather:v1 }]
  blockedImages: [{ name: quay.example/tools/broken }]
`);
    const channel = { name: 'alpha', minVersion: '0.5.0', maxVersion: '0.6.0' };
    expect(set).toMatchObject({
      catalogs: [
        {
          catalog: 'quay.example/catalogs/community:v4.18',
          full: false,
          targetCatalog: 'mirrored/community',
          targetTag: '4.18',
          packages: [
            { name: 'infinispan', minVersion: '2.4.0', channels: [] },
            { name: 'kube-green', defaultChannel: 'alpha', channels: [channel] },
          ],
        },
        { catalog: 'oci:///srv/catalog', full: true, packages: [] },
      ],
      additionalImages: ['quay.example/tools/must-gather:v1'],
      blockedImages: ['quay.example/tools/broken'],
      leftOut: [],
    });
  });

  test('in the older version too, whose targetName is the last part of the path', () => {
    const text = `apiVersion: mirror.openshift.io/v1alpha2
kind: ImageSetConfiguration
mirror:
  operators: [{ catalog: 'quay.example/a/b/index:v1', targetName: mine }]
`;
    expect(parseImageSet(text, 'f').catalogs[0]?.targetCatalog).toBe('a/b/mine');
  });
});

test('names what it leaves out, with the line', () => {
  const set = parseImageSet(
    `${head}archiveSize: 4
mirror:
  platform:
    channels: [{ name: stable-4.18 }]
  helm: {}
`,
    'imageset.yaml',
  );
  expect(set.leftOut).toEqual([
    'imageset.yaml:3: archiveSize is left out: a directory is one piece; split it with the tools of the medium',
    'imageset.yaml:5: mirror.platform is left out: use oc-mirror for releases of OpenShift',
  ]);
});

describe('a mistake is told with file, line and field', () => {
  const catalog = 'catalog: quay.example/a/b:v1';
  test.each([
    ['nothing at all', '', 'f:1: it must be an ImageSetConfiguration'],
    ['another kind', 'kind: Pod', 'f:1: kind: it must be ImageSetConfiguration'],
    [
      'another version',
      'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v1alpha1',
      'f:2: apiVersion: it must be mirror.openshift.io/v2alpha1 or mirror.openshift.io/v1alpha2',
    ],
    ['no mirror', head, 'f:1: mirror: it is missing'],
    ['an unknown field', `${head}mirror: {}\nmirrors: {}`, 'f:4: mirrors: there is no such field'],
    ['no YAML', `${head}mirror: [`, 'f: error converting YAML to JSON: yaml: line 4: '],
    [
      'a field amid a list',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    packages:\n    - name: a\n    - nam: b`,
      'f:8: mirror.operators[0].packages[1].name: it is missing',
    ],
    [
      'a number that was a text',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    targetTag: 4.10`,
      'f:6: mirror.operators[0].targetTag: write the text in quotes',
    ],
    [
      'a version that is none',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    packages:\n    - name: a\n      minVersion: v1`,
      'f:8: mirror.operators[0].packages[0].minVersion: it is no version such as 1.2.3',
    ],
    [
      'versions of a package whose channels are named',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    packages:\n    - name: a\n      channels: [{name: c}]\n      maxVersion: 1.0.0`,
      'f:9: mirror.operators[0].packages[0].maxVersion: set it in each of the channels that the package names',
    ],
    [
      'a default channel that is not mirrored',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    packages:\n    - name: a\n      channels: [{name: c}]\n      defaultChannel: d`,
      'f:9: mirror.operators[0].packages[0].defaultChannel: channel "d" is not among the channels that the package names',
    ],
    [
      'a package twice',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    packages:\n    - name: a\n    - name: a`,
      'f:8: mirror.operators[0].packages[1].name: package "a" is twice',
    ],
    [
      'an image that is no reference',
      `${head}mirror:\n  additionalImages:\n  - name: Quay.io/A/B`,
      'f:5: mirror.additionalImages[0].name: error parsing image reference: invalid reference format: repository name (A/B) must be lowercase',
    ],
    [
      'a catalog of this machine without a name for the mirror',
      `${head}mirror:\n  operators:\n  - catalog: oci:///srv/catalog`,
      'f:5: mirror.operators[0].catalog: a catalog of this machine needs a targetCatalog',
    ],
    [
      'a target with a registry',
      `${head}mirror:\n  operators:\n  - ${catalog}\n    targetCatalog: quay.example:5000/a`,
      'f:6: mirror.operators[0].targetCatalog: it must be the path of a repository, without registry, tag and digest',
    ],
    ['__proto__', `${head}mirror: {}\n__proto__: {a: b}`, 'f:4: __proto__: there is no such field'],
  ])('%s', (_what, text, message) => {
    expect(() => parseImageSet(text, 'f')).toThrow(message);
  });
});

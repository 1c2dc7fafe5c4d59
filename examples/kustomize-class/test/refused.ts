import type { RefusedContent } from 'rukpak-ts/testing';

const settings = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n';
const gauge = 'apiVersion: example.com/v1\nkind: Gauge\nmetadata: {name: one}\nspec: {list: [1]}\n';

/** A kustomization at the root beside `a.yaml`, and what is said of it. */
function withFile(kustomization: string, message: string, file = settings): RefusedContent {
  const files = { 'kustomization.yaml': kustomization, 'a.yaml': file };
  return { name: message, files, message };
}

function withPatch(patch: string, why: string, target = ''): RefusedContent {
  const kustomization = `resources: [a.yaml]\npatches:\n  - patch: |\n      ${patch}\n${target}`;
  return withFile(kustomization, `kustomization.yaml: field "patches[0]${why}`, gauge);
}

const merged = 'apiVersion: example.com/v1\n      kind: Gauge\n      metadata: {name: one}\n      ';
const target = '    target: {kind: Gauge}\n';

/** What the class does not do, and says instead of installing something else. */
export const refused: readonly RefusedContent[] = [
  {
    name: 'content without a kustomization',
    files: { 'a.yaml': settings },
    message: 'content has no kustomization.yaml in any folder',
  },
  {
    name: 'a folder without a kustomization',
    files: { 'a/kustomization.yaml': '', 'a.yaml': settings },
    message: 'folder "." has no kustomization.yaml',
  },
  {
    name: 'two kustomizations',
    files: { 'kustomization.yaml': '', Kustomization: '' },
    message: 'both kustomization.yaml and Kustomization are there: one is enough',
  },
  {
    name: 'an empty kustomization',
    files: { 'kustomization.yaml': '' },
    message: 'kustomization.yaml: must be a map',
  },
  {
    name: 'a path that is not there',
    files: { 'a/kustomization.yaml': '' },
    config: { path: 'b' },
    message:
      'BundleDeployment "demo": field "spec.config.path" names "b", which is not in the content',
  },
  {
    name: 'another setting',
    files: { 'a/kustomization.yaml': '' },
    config: { folder: 'a' },
    message: 'BundleDeployment "demo": field "spec.config.folder" is not supported by this class',
  },
  {
    name: 'bases in a circle',
    files: {
      'a/kustomization.yaml': 'resources: [../b]',
      'b/kustomization.yaml': 'resources: [../a]',
    },
    config: { path: 'a' },
    message: 'bases lead back to themselves: a -> b -> a',
  },
  {
    name: 'bases that double',
    files: Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `${at}/kustomization.yaml`,
        `resources: [../${at + 1}, ../${at + 1}]`,
      ]).concat([['40/kustomization.yaml', 'namespace: a']]),
    ),
    config: { path: '0' },
    message: 'more than 20000 folders are built, bases of bases included',
  },
  {
    name: 'a file of another folder',
    files: { 'a/kustomization.yaml': 'resources: [../a.yaml]', 'a.yaml': settings },
    config: { path: 'a' },
    message:
      'a/kustomization.yaml: field "resources[0]" names the file "../a.yaml", which is outside of "a"',
  },
  ...[
    'https://example.com/base',
    'github.com/a/b?ref=v1',
    'git@example.com:a/b',
    'git::ssh://a',
  ].map((name) =>
    withFile(
      `resources: ["${name}"]`,
      `kustomization.yaml: field "resources[0]" names "${name}", which is remote: put it into the content`,
    ),
  ),
  ...['../base', '/etc', 'a/../../b'].map((name) =>
    withFile(
      `resources: ["${name}"]`,
      `kustomization.yaml: field "resources[0]" names "${name}", which is outside of the content`,
    ),
  ),
  withFile('vars: []', 'kustomization.yaml: field "vars" is not supported by this class'),
  withFile(
    'kind: Component',
    'kustomization.yaml: field "kind" is "Component", and must be "Kustomization"',
  ),
  withFile('resources: a.yaml', 'kustomization.yaml: field "resources" must be a list'),
  withFile(
    'namePrefix: 1',
    'kustomization.yaml: field "namePrefix" must be a text (numbers in quotes)',
  ),
  withFile('resources: []', 'folder "." builds zero objects'),
  withFile(
    'resources: [a.yaml, a.yaml]',
    'folder "." has two of ConfigMap "settings" in namespace "default"',
  ),
  withFile(
    'labels: [{pairs: {a: b}, fields: []}]',
    'kustomization.yaml: field "labels[0].fields" is not supported by this class',
  ),
  withFile(
    'configMapGenerator: [{name: a, behavior: merge}]',
    'kustomization.yaml: field "configMapGenerator[0].behavior" is not supported by this class',
  ),
  withFile(
    'configMapGenerator: [{name: a, literals: [a=1, a=2]}]',
    'kustomization.yaml: field "configMapGenerator[0]" has the key "a" twice',
  ),
  withFile(
    'resources: [a.yaml]\nconfigMapGenerator: [{name: settings}]',
    'kustomization.yaml: field "configMapGenerator[0]" makes ConfigMap "settings" in namespace "default", which is there already',
  ),
  withFile(
    'resources: [a.yaml]\nreplicas: [{name: web, count: 1}]',
    'kustomization.yaml: field "replicas[0]" names "web", and nothing scalable is called so',
  ),
  withFile(
    'resources: [a.yaml]',
    'a.yaml: annotation "config.kubernetes.io/local-config" is not supported by this class',
    'apiVersion: v1\nkind: A\nmetadata: {name: a, annotations: {config.kubernetes.io/local-config: "true"}}\n',
  ),
  withFile('resources: [a.yaml]', 'a.yaml: a A has no apiVersion or no metadata.name', 'kind: A\n'),
  withPatch('[]', '.target" is missing: a JSON patch needs one'),
  withPatch(
    '- {op: move, from: /a, path: /b}',
    '.patch[0].from" is not supported by this class',
    target,
  ),
  withPatch('- {op: remove, path: /a}', '.patch[0]" cannot be applied at "/a" of Gauge', target),
  withPatch(
    merged.replace('one', 'two'),
    '" patches Gauge "two" in namespace "default", which is not there',
  ),
  withPatch(
    `${merged}spec: {list: [2]}`,
    '" has the list "spec/list", which this class does not merge: use a JSON patch',
  ),
  withPatch(
    `${merged}spec: {__proto__: {a: b}}`,
    '" has the directive "__proto__": use a JSON patch',
  ),
  withPatch(`${merged}$patch: delete`, '" has the directive "$patch": use a JSON patch'),
];

/** Files of registry+v1 bundles that tools read in ways of their own; the two that all have are added. */
type Files = Readonly<Record<string, string>>;

const csv = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: a.v1.0.0
spec:
  version: 1.0.0
`;
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.g.io}
spec:
  group: g.io
  names: {plural: foos, kind: Foo}
  versions: [{name: v1, served: true, storage: true}, {name: v2}]
`;
const prefix = 'operators.operatorframework.io.bundle';
const annotations = `annotations:\n  ${prefix}.package.v1: a\n  ${prefix}.channels.v1: stable\n`;

const bundle: Files = { 'manifests/csv.yaml': csv, 'metadata/annotations.yaml': annotations };

function changed(from: string, to: string): Files {
  return { 'manifests/csv.yaml': csv.replace(from, to) };
}

function spec(fields: string): Files {
  return { 'manifests/csv.yaml': `${csv}  ${fields}\n` };
}

function object(content: string, name = 'o.yaml'): Files {
  return { [`manifests/${name}`]: content };
}

function annotated(properties: string): Files {
  const name = 'name: a.v1.0.0';
  return changed(name, `${name}\n  annotations: {olm.properties: '${properties}'}`);
}

function listed(kind: 'dependencies' | 'properties', entries: string): Files {
  return { [`metadata/${kind}.yaml`]: `${kind}: ${entries}\n` };
}

function named(value: string): Files {
  return {
    'metadata/annotations.yaml': annotations.replace('package.v1: a', `package.v1: ${value}`),
  };
}

const manifests: readonly Files[] = [
  {},
  object(crd, 'sub/x.yaml'),
  object(crd, '.hidden.yaml'),
  object(`${crd}---\nkind: Service\n`),
  ...['# c\n---\n', '---\n', '---\n# c\n---\n'].map((before) => changed('apiV', `${before}apiV`)),
  ...['', 'a: [\n', '\n\n', 'x', 'a: b\n', 'kind: 1\n', 'kind: X\n---foo\n'].map((each) =>
    object(each),
  ),
  ...['\ufeffkind: X\n', 'kind: X\r\nx: y\r\n---\r\nkind: Z\r\n', 'kind: X\nkind: Y\n'].map(
    (each) => object(each),
  ),
  object('kind: X\n__proto__: {a: b}\nconstructor: y\nx: &a {b: c}\nd: *a\n<<: *a\n'),
  object(`${' '.repeat(40)}\n{"kind": "X"}\n`),
  object('kind: X\nx: .inf\n'),
  object(
    `kind: C\nd: {a: '<script>&', b: "l1\\u2028l2", n: 1.0, e: 1e3, big: 12345678901234567890, i: 9007199254740993, neg: -0.0, f: 1e-7, '10': x, '9': y}\n`,
  ),
  object('{"kind":"C","d":{"n":1.0,"e":1e3,"big":12345678901234567890}}', 'o.json'),
  object('{"kind":"C"}{"kind":"Service"}', 'o.json'),
  object('{kind: C}\n', 'o.json'),
  object(csv.replaceAll('1.0.0', '2.0.0'), 'z-second.yaml'),
  { 'manifests/csv.yaml': crd },
  object('apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Service}]\n'),
];

const definitions: readonly Files[] = [
  object(crd),
  object(crd.replace('/v1\n', '/v1beta1\n').replace('spec:', 'spec:\n  version: v0')),
  object(crd.replace('/v1\n', '/v2\n')),
  object(crd.replace('apiextensions.k8s.io/', 'x.io/')),
  object(crd.replace('group: g.io', 'group: 1')),
  object(crd.replace('versions: [', 'versions: [1,')),
  ...['v1', 'v9'].map((version) => ({
    ...object(crd),
    ...spec(
      `customresourcedefinitions: {owned: [{name: foos.g.io, version: ${version}, kind: Foo}]}`,
    ),
  })),
  spec('customresourcedefinitions: {owned: [{name: foos, version: v1, kind: Foo}]}'),
  spec('customresourcedefinitions: {required: [{name: bars.h.io, version: v1, kind: Bar}]}'),
  spec('customresourcedefinitions: {required: [{name: bars}]}'),
  spec('customresourcedefinitions: x'),
  spec('customresourcedefinitions: {owned: x}'),
  spec(
    'apiservicedefinitions: {owned: [{group: a.b, version: v1, kind: K, name: ks}], required: [{group: c.d, version: v1, kind: L, name: ls}]}',
  ),
  spec('apiservicedefinitions: {owned: 1}'),
];

const fields: readonly Files[] = [
  ...['1.0', 'v1.0', 'null', "'<1>'"].map((each) => changed('version: 1.0.0', `version: ${each}`)),
  ...['', 'spec: null', 'spec: x', 'spec: []', 'spec: {}'].map((each) =>
    changed('spec:\n  version: 1.0.0', each),
  ),
  ...['r1', '5', '1.5', "'01'", 'true', '[1]', 'null', "''", '1e30', '123456789012345678901'].map(
    (each) => spec(`release: ${each}`),
  ),
  ...['a/b/c', "''", 'operators.coreos.com/v1'].map((each) =>
    changed('operators.coreos.com/v1alpha1', each),
  ),
  changed('kind: Cl', 'Kind: Cl'),
  changed('metadata:\n  name: a.v1.0.0\n', ''),
  spec('relatedImages: [{name: b, image: q/b}, {name: a, image: q/a}, {name: dup, image: q/a}]'),
  ...['x', '[x]', '[{image: 1}]', '[{name: x}, null, {IMAGE: y}]', "[{image: '<&>'}]"].map((each) =>
    spec(`relatedImages: ${each}`),
  ),
  ...['deployment', 'other'].map((each) =>
    spec(
      `install: {strategy: ${each}, spec: {deployments: [{name: d, spec: {template: {spec: {containers: [{image: q/c}, {name: x}], initContainers: [{image: q/i}]}}}}]}}`,
    ),
  ),
  ...['x', '{strategy: 1}', '{strategy: deployment, spec: {deployments: x}}'].map((each) =>
    spec(`install: ${each}`),
  ),
];

const properties: readonly Files[] = [
  ...[
    '[{"type":"olm.package","value":{"packageName":"zzz","version":"9"}}]',
    '[{"type":"x","value": {"b" : 1.0,  "a":[1,2 , {"c":"<"}]}}]',
    'x',
    '{}',
    'null',
    '[null]',
    '[{"type":1}]',
    '["x"]',
    '[{"Type":"y","VALUE":"q"}]',
    '[{"type":"olm.gvk","value":"x"}]',
    '[{"type":"olm.gvk"}]',
    '[{"type":"a","value":1},{"type":"a","value":1},{"type":"a","value": 1.0}]',
    '[{"type":"olm.csv.metadata","value":{}},{"type":"zz","value":1}]',
    '[{"type":"i","value":{"10":1,"9":2}}]',
  ].map(annotated),
  ...[
    '[{type: olm.package, value: {packageName: p, version: ">=1 <2"}}]',
    '[{type: olm.package, value: str}]',
    '[{type: olm.package}]',
    '[{type: olm.package, value: {packageName: 1}}]',
    '[{type: olm.gvk, value: {group: "<", version: v, kind: K}}, {type: olm.gvk, value: {group: "<", version: v, kind: K}}]',
    '[{type: olm.gvk, value: 1}]',
    '[{type: olm.label, value: {label: x}}]',
    '[{type: olm.constraint, value: {failureMessage: "a & b", cel: {rule: "x < 3"}}}]',
    '[{type: other, value: [1, 1.5, y, ~, 0o17, 2001-01-01]}]',
    '[{type: 1, value: {2: x, 10: y, a10: 1, a2: 2}}]',
    '[{value: x}]',
    '[null]',
    '[x]',
    'x',
  ].map((each) => listed('dependencies', each)),
  ...[
    '[{type: olm.package, value: {packageName: zz, version: "9.9.9"}}]',
    '[{type: olm.gvk, value: {group: 1}}]',
    '[{type: olm.maxOpenShiftVersion, value: 4.10}]',
    '[{property: {type: a, value: b}}]',
    '[{type: big, value: 12345678901234567890123}]',
    '[{type: f, value: 1.0e10}, {type: f, value: 1e21}, {type: f, value: 0.000001}, {type: f, value: -0.0}]',
    '[{type: é, value: ü}, {type: "\u{10000}", value: a}, {type: "", value: b}, {type: "\uffee", value: b}]',
    '[{type: x, value: "a\\u2028b\\e"}]',
  ].map((each) => listed('properties', each)),
  { 'metadata/d.json': '{"dependencies":[{"type":"a","value":{"z": 1.0,"b":"<"}}]}' },
  { 'metadata/d.json': '{"dependencies":[{"type":1,"value":{"z": 1.0,"b":"<"}}]}' },
];

const metadata: readonly Files[] = [
  ...['1', '1.10', 'true', '1e30', '[x]', '~', "''", '0x1f', '12345678901234567890123'].map(named),
  { 'metadata/annotations.yaml': 'annotations: {}\n' },
  { 'metadata/annotations.yaml': `# c\n---\n${annotations}` },
  { 'metadata/annotations.yaml': `{"annotations":{"${prefix}.package.v1":1}}` },
  { 'metadata/a.yaml': annotations.replace(': a', ': first') },
  { 'metadata/sub/x.yaml': 'x: y' },
  {
    'metadata/all.yaml': `${annotations}properties: [{type: p, value: 1}]\ndependencies: [{type: d, value: 2}]\n`,
  },
];

/** Bundles for each row of how upstream's tools read them, by a number. */
export const oddBundles: ReadonlyMap<string, Files> = new Map(
  [...manifests, ...definitions, ...fields, ...properties, ...metadata].map((files, index) => [
    String(index),
    { ...bundle, ...files },
  ]),
);

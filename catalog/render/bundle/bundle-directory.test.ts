import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { writeJson } from '../../blobs/index.ts';
import { embeddedCsv, imageTemplate, migrationsUpTo, partsOfReference } from '../index.ts';
import { renderBundle } from './bundle-directory.ts';

const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

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
  versions: [{name: v1, served: true}, {name: v2}]
`;
const annotations = `annotations:
  operators.operatorframework.io.bundle.package.v1: a
  operators.operatorframework.io.bundle.channels.v1: stable
`;

async function aBundle(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'render-bundle-'));
  folders.push(folder);
  const all = { 'manifests/csv.yaml': csv, 'metadata/annotations.yaml': annotations, ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const noImage = (): string => '';
const noWarning = (): void => undefined;

async function properties(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { bundle } = await renderBundle(await aBundle(files), noImage, noWarning);
  return bundle.properties
    .filter(({ type }) => type !== 'olm.bundle.object')
    .map(({ type, json }) => `${type} ${json ?? 'null'}`);
}

test('a pipe or device in the place of a file is told, and not waited for', async () => {
  const folder = await aBundle();
  execFileSync('mkfifo', [join(folder, 'manifests/pipe.yaml')]);
  await symlink('/dev/zero', join(folder, 'manifests/device.yaml'));
  const warnings: string[] = [];
  const { bundle } = await renderBundle(folder, noImage, (text) => warnings.push(text));
  expect(bundle.name).toBe('a.v1.0.0');
  expect(new Set(warnings)).toEqual(
    new Set(
      ['device.yaml', 'pipe.yaml'].map(
        (name) =>
          `failed to decode: ${folder}/manifests/${name} is a pipe or device: a bundle consists of files (${name})`,
      ),
    ),
  );
});

test('writes the blob with the escapes of embedded objects and the order of opm', async () => {
  const folder = await aBundle({
    'manifests/csv.yaml': `${csv}  displayName: <A> & B\n  relatedImages: [{name: b, image: q/b}, {name: a, image: q/a}]\n`,
    'metadata/dependencies.yaml':
      'dependencies: [{type: olm.package, value: {packageName: p, version: ">=1"}}]',
  });
  const { bundle } = await renderBundle(
    folder,
    imageTemplate('q/{{.Package}}:{{.Version}}'),
    noWarning,
  );
  const pieces = writeJson({
    packages: [],
    channels: [],
    bundles: [bundle],
    deprecations: [],
    others: [],
  });
  const text = [...pieces].join('');
  const data = /"data": "([^"]+)"/.exec(text)?.[1] ?? '';
  expect(Buffer.from(data, 'base64').toString()).toContain(
    String.raw`"displayName":"\u003cA\u003e \u0026 B"`,
  );
  expect(text.replace(data, 'DATA')).toBe(`{
    "schema": "olm.bundle",
    "name": "a.v1.0.0",
    "package": "a",
    "image": "q/a:1.0.0",
    "properties": [
        {
            "type": "olm.package",
            "value": {
                "packageName": "a",
                "version": "1.0.0"
            }
        },
        {
            "type": "olm.package.required",
            "value": {
                "packageName": "p",
                "versionRange": ">=1"
            }
        },
        {
            "type": "olm.bundle.object",
            "value": {
                "data": "DATA"
            }
        }
    ],
    "relatedImages": [
        {
            "name": "a",
            "image": "q/a"
        },
        {
            "name": "",
            "image": "q/a:1.0.0"
        },
        {
            "name": "b",
            "image": "q/b"
        }
    ]
}
`);
});

test('warns of metadata that it leaves out', async () => {
  const warnings: string[] = [];
  const folder = await aBundle({
    'metadata/.hidden': 'a: [',
    'metadata/annotations.yaml': `${annotations}---\nannotations: {}\n`,
    'metadata/broken.yaml': 'dependencies: [',
    'metadata/dependencies.yaml': 'dependencies: [{type: olm.gvk, value: {}}, x]\n',
    'metadata/empty.yaml': '',
    'metadata/properties.yaml': 'properties: {type: x, value: y}\n',
    'metadata/readme': 'text\n',
  });
  const { bundle } = await renderBundle(folder, noImage, (line) => warnings.push(line));
  expect(bundle.properties.map(({ type }) => type)).toEqual(['olm.package', 'olm.bundle.object']);
  expect(warnings).toEqual([
    'found more than one document inside metadata/annotations.yaml, using only the first one',
    expect.stringMatching(
      /^failed to decode: error converting YAML .* \(metadata\/broken\.yaml\)$/,
    ),
    'failed to decode dependencies: an entry is no map (metadata/dependencies.yaml)',
    'failed to decode properties: they are no list (metadata/properties.yaml)',
  ]);
});

test('writes a manifest of any size that a blob may have', async () => {
  const large = 'x'.repeat(16_000_000);
  const folder = await aBundle({ 'manifests/map.yaml': `kind: ConfigMap\ndata: {a: ${large}}\n` });
  const { bundle } = await renderBundle(folder, noImage, noWarning);
  const rest = { packages: [], channels: [], deprecations: [], others: [] };
  const text = [...writeJson({ ...rest, bundles: [bundle] })].join('');
  const written = JSON.parse(text) as { properties: { value: { data: string } }[] };
  const manifests = written.properties.map(({ value }) => value.data ?? '');
  const [manifest = ''] = manifests.filter(({ length }) => length > large.length);
  expect(Buffer.from(manifest, 'base64').toString()).toBe(
    `{"data":{"a":"${large}"},"kind":"ConfigMap"}`,
  );
});

test('keeps the text of an annotated property, and escapes one of YAML', async () => {
  const annotated = csv.replace(
    'name: a.v1.0.0',
    `name: a.v1.0.0\n  annotations: {olm.properties: '[{"type":"x","value":{"b" : 1.0,"a":"<"}}]'}`,
  );
  expect(
    await properties({
      'manifests/csv.yaml': annotated,
      'metadata/properties.yaml': 'properties: [{type: z, value: {b: 1.0, a: "<"}}]',
    }),
  ).toEqual([
    'olm.package {"packageName":"a","version":"1.0.0"}',
    'x {"b":1.0,"a":"<"}',
    String.raw`z {"a":"\u003c","b":1}`,
  ]);
});

test('derives an API of each version of a CRD, and the last olm.package wins', async () => {
  expect(
    await properties({
      'manifests/crd.yaml': crd,
      'metadata/properties.yaml':
        'properties: [{type: olm.package, value: {packageName: z, version: "9"}}]',
    }),
  ).toEqual([
    'olm.gvk {"group":"g.io","kind":"Foo","version":"v1"}',
    'olm.gvk {"group":"g.io","kind":"Foo","version":"v2"}',
    'olm.package {"packageName":"a","version":"1.0.0"}',
  ]);
});

test('reads the first document of each file, and warns of what it does not read', async () => {
  const warnings: string[] = [];
  const folder = await aBundle({
    'manifests/more.yaml': 'kind: A\n---\nkind: B\n',
    'manifests/.hidden.yaml': 'kind: C\n',
    'manifests/bad.yaml': 'a: [\n',
    'manifests/sub/x.yaml': 'kind: D\n',
    'manifests/z-second.yaml': csv.replace('a.v1', 'b.v2'),
  });
  const { bundle } = await renderBundle(folder, noImage, (line) => warnings.push(line));
  const objects = bundle.properties.filter(({ type }) => type === 'olm.bundle.object');
  expect(objects).toHaveLength(2);
  expect(warnings[0]).toMatch(/^failed to decode: error converting YAML to JSON: yaml: /);
  expect(warnings[1]).toBe(
    'found more than one document inside more.yaml, using only the first one',
  );
  expect(warnings[2]).toBe(
    'z-second.yaml has another ClusterServiceVersion, using only the first one',
  );
});

const owned = '  customresourcedefinitions: {owned: [{name: foos.g.io, version: v9, kind: Foo}]}\n';

test.each([
  ['# c\n---\n'.concat(csv), 'no bundle objects found'],
  [crd, 'no csv in bundle'],
  [
    csv.replace('1.0.0\n', '1.0.0\n').replace('version: 1.0.0', 'version: 1.0'),
    'failed to derive properties: json: cannot unmarshal number into Go value of type string',
  ],
  [
    csv + owned,
    "error checking provided apis in bundle a.v1.0.0: couldn't find g.io/v9/Foo (foos) in bundle. found: map[]",
  ],
  [
    csv + owned.replace('foos.g.io', 'foos'),
    "error checking provided apis in bundle a.v1.0.0: couldn't parse plural.group from crd name: foos",
  ],
  [
    `${csv}  relatedImages: [{image: 1}]\n`,
    'get related images for bundle "a.v1.0.0": json: cannot unmarshal number into Go struct field RelatedImage.image of type string',
  ],
])('refuses %j', async (content, message) => {
  const folder = await aBundle({ 'manifests/csv.yaml': content });
  await expect(renderBundle(folder, noImage, noWarning)).rejects.toThrow(message);
});

test('says which property is of the wrong type', async () => {
  const folder = await aBundle({
    'metadata/dependencies.yaml': 'dependencies: [{type: olm.package, value: x}]',
  });
  await expect(renderBundle(folder, noImage, noWarning)).rejects.toThrow(
    'get properties for bundle "a.v1.0.0": parse property[0] of type "olm.package": json: cannot unmarshal string into Go value of type property.Package',
  );
});

test('replaces embedded objects by metadata where the bundle has an image', async () => {
  const folder = await aBundle({
    'manifests/csv.yaml': `${csv}  keywords: [k]\n  displayName: A\n`,
  });
  const { bundle, csv: json } = await renderBundle(folder, () => 'q/a:1', noWarning);
  const [migrated] = migrationsUpTo('all')
    .slice(-1)
    .map(({ migrate }) => migrate(bundle, json));
  expect(migrated?.properties.at(-1)?.json).toBe(
    '{"apiServiceDefinitions":{},"crdDescriptions":{},"displayName":"A","keywords":["k"],"provider":{}}',
  );
  expect(migrated?.properties.map(({ type }) => type)).toEqual(['olm.package', 'olm.csv.metadata']);
  const plain = await renderBundle(folder, noImage, noWarning);
  const same = migrationsUpTo('all').map(({ migrate }) => migrate(plain.bundle, plain.csv));
  expect(same).toEqual([plain.bundle, plain.bundle]);
  expect(() => migrationsUpTo('foo')).toThrow('unknown migration level "foo"');
});

test('renders links of an image to its own files, and no file outside of it', async () => {
  const folder = await aBundle({
    secret: 'apiVersion: v1\nkind: Config\nusers: [{name: me, token: hidden}]\n',
  });
  const registry = await FakeRegistry.start();
  const labels = { 'operators.operatorframework.io.bundle.package.v1': 'a' };
  const config = registry.addBlob(Buffer.from(JSON.stringify({ config: { Labels: labels } })), '');
  const climb = `${'.up/'.repeat(12)}${'../'.repeat(12)}${folder.slice(1)}/secret`;
  const tarEntries = [
    { name: 'manifests/csv.yaml', content: csv },
    { name: 'metadata/annotations.yaml', content: annotations },
    { name: 'crd.yaml', content: crd },
    { name: 'manifests/.up', type: 'SymbolicLink', linkpath: '.' },
    { name: 'manifests/config.yaml', type: 'SymbolicLink', linkpath: climb },
    { name: 'manifests/crd.yaml', type: 'SymbolicLink', linkpath: '../crd.yaml' },
  ] as const;
  try {
    await registry.addImage('v1', [{ tarEntries }], (manifest) => ({ ...manifest, config }));
    const access = new RegistryAccess({
      insecureRegistries: [registry.host],
      caCertificates: [],
      keychain: emptyKeychain,
      clock: systemClock,
    });
    const { signal } = new AbortController();
    const kinds: string[] = [];
    const options = { registry: async () => access, signal };
    for await (const part of partsOfReference(`${registry.host}/a:v1`, options)) {
      for (const { properties } of part.config.bundles) {
        for (const { type, json } of properties) {
          if (type !== 'olm.bundle.object') continue;
          const { data } = JSON.parse(json ?? '') as { data: string };
          const object = JSON.parse(Buffer.from(data, 'base64').toString()) as { kind: string };
          kinds.push(object.kind);
        }
      }
    }
    expect(kinds.toSorted()).toEqual(['ClusterServiceVersion', 'CustomResourceDefinition']);
  } finally {
    await registry.stop();
  }
});

test('the ClusterServiceVersion of a blob is the first, beside objects that cannot be read', () => {
  const object = (data: string, name = 'data') => ({
    type: 'olm.bundle.object',
    value: { [name]: Buffer.from(data).toString('base64') },
  });
  const properties = [
    object('{"kind": "ClusterServiceVersion", oops: ['),
    object('{"kind":"Service"}'),
    object('{"kind":"ClusterServiceVersion","spec":1}', 'Data'),
    object('{"kind":"ClusterServiceVersion","spec":2}'),
  ];
  const names = { schema: 'olm.bundle', name: 'a', package: 'a', image: 'q/a' } as const;
  expect(embeddedCsv({ ...names, properties, relatedImages: [] })).toBe(
    '{"kind":"ClusterServiceVersion","spec":1}',
  );
});

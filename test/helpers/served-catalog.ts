const image = 'quay.io/crafted/bundle';

/** A package that has all that gRPC tells of one, and blobs of other schemas. */
export const servedCatalog = [
  {
    schema: 'olm.package',
    name: 'crafted',
    defaultChannel: 'stable',
    description: 'Of the <package> & "more"',
    icon: { base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' },
  },
  channel('stable', [
    { name: 'crafted.v1' },
    { name: 'crafted.v2', replaces: 'crafted.v1', skipRange: '<2.0.0' },
    { name: 'crafted.v3', replaces: 'crafted.v2', skips: ['crafted.v1', 'crafted.v2', 'gone'] },
  ]),
  channel('fast', [
    { name: 'crafted.v3', replaces: 'twice' },
    { name: 'crafted.v4', replaces: 'crafted.v3', skips: ['twice', 'crafted.v2'] },
  ]),
  channel('Beta', [{ name: 'crafted.v5' }]),
  bundle('1', [
    { type: 'olm.gvk', value: { group: 'acme.io', version: 'v1', kind: 'Thing' } },
    { type: 'olm.gvk', value: { Kind: 'Cased', group: 'acme.io', version: 'v1' } },
    { type: 'olm.gvk', value: { group: '', version: '', kind: '' } },
    { type: 'olm.gvk.required', value: { group: 'b.io', version: 'v1', kind: 'B' } },
    {
      type: 'olm.package.required',
      value: { packageName: 'b', versionRange: '>=1.0.0 <2.0.0', other: 1 },
    },
    { type: 'olm.constraint', value: { cel: { rule: 'a < b && c > d' }, failureMessage: '"ä"' } },
    { type: 'acme.number', value: 1e21 },
    { type: 'acme.null', value: null },
    { type: 'acme.text', value: '<b>\u2028</b>' },
    { type: '', value: [] },
  ]),
  bundle('2', [
    object({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' }, data: { a: '<&>' } }),
    object({ kind: 'ClusterServiceVersion', metadata: { name: 'crafted.v2' }, spec: {} }),
    {
      type: 'olm.bundle.object',
      value: { data: Buffer.from('kind: Secret\na: <x>\nn: 1.0\n').toString('base64') },
    },
    { type: 'olm.csv.metadata', value: { displayName: 'Shown nowhere' } },
  ]),
  {
    ...bundle('3', [
      {
        type: 'olm.csv.metadata',
        value: {
          annotations: { b: '<1>', a: '&2' },
          apiServiceDefinitions: {
            owned: [{ name: 'n', group: 'g', version: 'v', kind: 'k', containerPort: 443 }],
          },
          crdDescriptions: {
            owned: [
              {
                name: 'things.acme.io',
                version: 'v1',
                kind: 'Thing',
                displayName: 'Thing',
                specDescriptors: [
                  { path: 'size', value: { b: 1, a: '<' }, 'x-descriptors': ['x'] },
                ],
                resources: [{ kind: 'Pod', name: '', version: 'v1' }],
              },
            ],
            required: [{ name: 'bs.b.io', version: 'v1', kind: 'B' }],
          },
          displayName: 'Crafted <operator>',
          installModes: [{ type: 'OwnNamespace', supported: true }],
          keywords: ['a', 'ü'],
          labels: { l: 'x' },
          links: [{ name: 'docs', url: 'https://a.b/?c=d&e=f' }],
          maintainers: [{ name: 'm', email: 'm@example.com' }],
          maturity: 'stable',
          minKubeVersion: '1.20.0',
          nativeAPIs: [{ group: '', version: 'v1', kind: 'Pod' }],
          provider: { name: 'Acme' },
          unknown: 1,
        },
      },
      { type: 'olm.gvk', value: { group: 'acme.io', version: 'v1', kind: 'Thing' } },
    ]),
    relatedImages: [
      { name: '', image },
      { image: `${image}:v3`, name: 'three' },
    ],
  },
  bundle('4', [
    { type: 'olm.csv.metadata', value: { description: 'Of the bundle' } },
    object({ kind: 'ConfigMap', apiVersion: 'v1' }),
    { type: 'olm.gvk', value: { group: 'acme.io', version: 'v1', kind: 'Thing' } },
  ]),
  { ...bundle('5', [object({ kind: 'ConfigMap', apiVersion: 'v1' })]), image: '' },
  {
    schema: 'olm.deprecations',
    package: 'crafted',
    entries: [
      { reference: { schema: 'olm.package' }, message: 'the package' },
      { reference: { schema: 'olm.channel', name: 'fast' }, message: 'the channel' },
      { reference: { schema: 'olm.bundle', name: 'crafted.v3' }, message: 'the bundle' },
    ],
  },
  {
    schema: 'acme.note',
    package: 'crafted',
    name: 'one',
    deep: { a: [1, null, true, { b: 'c' }] },
  },
  { schema: 'acme.note', package: 'crafted', name: 'two', number: 1.5, ['__proto__']: { x: 1 } },
  { schema: 'acme.note', text: 'of no package' },
]
  .map((blob) => JSON.stringify(blob))
  .join('\n');

function channel(name: string, entries: readonly object[]): object {
  return { schema: 'olm.channel', package: 'crafted', name, entries };
}

function bundle(major: string, properties: readonly object[]): object {
  const value = { packageName: 'crafted', version: `${major}.0.0-rc.1+b` };
  if (major !== '1') value.version = `${major}.0.0`;
  return {
    schema: 'olm.bundle',
    package: 'crafted',
    name: `crafted.v${major}`,
    image: `${image}:v${major}`,
    properties: [{ type: 'olm.package', value: { ...value, more: true } }, ...properties],
  };
}

function object(manifest: object): object {
  const data = Buffer.from(JSON.stringify(manifest, undefined, 1)).toString('base64');
  return { type: 'olm.bundle.object', value: { data } };
}

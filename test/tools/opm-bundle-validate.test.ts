// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { type BundleFiles, defaultLimits, stringifyJson } from '../../core/sdk.ts';
import { type BothResults, runBothOpms } from '../helpers/both-opms.ts';
import { opmBinary } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';
import {
  realBundleDirectory,
  realBundlesArePresent,
  realBundleVersions,
} from '../helpers/real-bundles.ts';
import { aCsvManifest, aTree } from '../helpers/registry-bundle.ts';

let registry: OpmRegistry;

beforeAll(async () => {
  await opmBinary();
  registry = await OpmRegistry.start();
});

afterAll(async () => {
  await registry?.stop();
});

async function judged(files: BundleFiles, ...flags: readonly string[]): Promise<BothResults> {
  const image = await registry.push('bundle', files);
  const args = ['alpha', 'bundle', 'validate', '-b', 'none', '-t', image, ...flags];
  return await runBothOpms(args, { env: registry.env, normalise });
}

/**
 * Without addresses in memory, the folder that opm unpacks to, the order of annotations, and what its
 * library for images logs.
 */
function normalise(text: string): string {
  return text
    .replace(/^Error: Bundle validation errors: (?=Missing|Expecting)(.*)$/m, (line) =>
      line
        .split(/,|: (?=Missing|Expecting)/)
        .toSorted()
        .join(','),
    )
    .replaceAll(/Value 0x[0-9a-f]+/g, 'Value true')
    .replaceAll(/\/tmp\/(?:opm-\w+\/)?bundle-\d+\//g, '')
    .replaceAll(/^time= level=debug (?!.*container-tool=).*\n/gm, '')
    .replaceAll(/^time= level=info msg="Create a temp directory .*\n/gm, '');
}

describe.runIf(realBundlesArePresent())('operators as they were published', () => {
  test.each(realBundleVersions())('%s', async (version) => {
    const files = loadDirectory(realBundleDirectory(version), defaultLimits);
    const { ours, theirs } = await judged(files);
    expect(ours).toEqual(theirs);
  });
});

const prefix = 'operators.operatorframework.io.bundle.';
const annotations = Object.fromEntries(
  [
    ['mediatype', 'registry+v1'],
    ['manifests', 'manifests/'],
    ['metadata', 'metadata/'],
    ['package', 'pkg'],
    ['channels', 'stable'],
  ].map(([name, value]) => [`${prefix}${name}.v1`, value]),
);
const csv = aCsvManifest({
  displayName: 'Pkg',
  version: '1.0.0',
  install: { strategy: 'deployment', spec: { deployments: [] } },
});

const good = {
  'metadata/annotations.yaml': stringifyJson({ annotations }),
  'manifests/csv.yaml': stringifyJson(csv),
};

function withObject(object: object): Readonly<Record<string, string>> {
  return { 'manifests/object.yaml': stringifyJson(object) };
}

function annotated(values: Readonly<Record<string, string | undefined>>) {
  const changed = Object.entries(values).map(([name, value]) => [`${prefix}${name}.v1`, value]);
  const all = { ...annotations, ...Object.fromEntries(changed) };
  return { 'metadata/annotations.yaml': stringifyJson({ annotations: all }) };
}

function depending(type: string, value: unknown) {
  return { 'metadata/dependencies.yaml': stringifyJson({ dependencies: [{ type, value }] }) };
}

function csvWith(spec: object, metadata: object = {}) {
  const { spec: own, ...rest } = csv as { readonly spec: object };
  const { metadata: named } = csv as { readonly metadata?: object };
  const all = { ...rest, metadata: { ...named, ...metadata }, spec: { ...own, ...spec } };
  return { 'manifests/csv.yaml': stringifyJson(all) };
}

function crd(spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com', ...metadata },
    spec: {
      group: 'example.com',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
      ...spec,
    },
  };
}

const owned = (entry: object) => ({ customresourcedefinitions: { owned: [entry] } });
const thing = { name: 'things.example.com', version: 'v1', kind: 'Thing' };

describe('odd bundles', () => {
  test.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['nothing odd', {}],
    ['no annotations file', { 'metadata/annotations.yaml': undefined, 'metadata/': '' }],
    ['other annotations', { 'metadata/annotations.yaml': 'annotations: {a: b}' }],
    [
      'annotations in any file',
      { 'metadata/annotations.yaml': undefined, 'metadata/x': good['metadata/annotations.yaml'] },
    ],
    ['no package', annotated({ package: undefined })],
    ['no channels in it', annotated({ channels: '' })],
    ['an empty default', annotated({ 'channel.default': '' })],
    ['other folders', annotated({ manifests: 'x', metadata: 'y' })],
    ['another type', annotated({ mediatype: 'plain+v0' })],
    ['no manifests', { 'manifests/csv.yaml': undefined }],
    ['no files of manifests', { 'manifests/csv.yaml': undefined, 'manifests/': '' }],
    ['no metadata', { 'metadata/annotations.yaml': undefined }],
    [
      'no CSV',
      {
        'manifests/csv.yaml': undefined,
        ...withObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }),
      },
    ],
    ['a folder in manifests', { 'manifests/sub/a.yaml': 'x' }],
    ['an empty file', { 'manifests/empty.yaml': '' }],
    ['a text', { 'manifests/text.yaml': 'text' }],
    ['a list', { 'manifests/list.yaml': '[]' }],
    ['an apiVersion that is none', withObject({ apiVersion: 'a/b/c', kind: 'Secret' })],
    ['no kind, in JSON', { 'manifests/object.yaml': ' {"apiVersion": "v1" ,"a": 1.0}\n' }],
    ['no kind', { 'manifests/object.yaml': 'apiVersion: v1\n' }],
    [
      'a comment and an object',
      { 'manifests/late.yaml': '# c\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n' },
    ],
    [
      'a kind that is not supported',
      withObject({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }),
    ],
    [
      'a namespace',
      withObject({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's', namespace: 'n', labels: { b: 'c', a: 'b' } },
      }),
    ],
    ['no name', withObject({ apiVersion: 'v1', kind: 'Secret', metadata: {} })],
    [
      'two CSVs',
      {
        'manifests/a.yaml': stringifyJson(aCsvManifest({ version: '1.0.0' }, { name: 'other.v1' })),
      },
    ],
    ['a package without its name', depending('olm.package', { version: '>1.0.0' })],
    ['a package without a version', depending('olm.package', { packageName: 'a' })],
    ['a bad range', depending('olm.package', { packageName: 'a', version: '>x' })],
    ['a GVK of nothing', depending('olm.gvk', { group: '' })],
    ['a label of nothing', depending('olm.label', {})],
    ['a constraint that is not CEL', depending('olm.constraint', { any: { constraints: [] } })],
    ['a rule', depending('olm.constraint', { cel: { rule: 'properties.all(p, has(p.type))' } })],
    ['a wrong rule', depending('olm.constraint', { cel: { rule: 'x == 1 ||\n "é" < 5' } })],
    ['a rule without a bool', depending('olm.constraint', { cel: { rule: 'properties' } })],
    ['an empty rule', depending('olm.constraint', { cel: { rule: '' } })],
    ['an unknown dependency', depending('acme', {})],
    ['a bad name', csvWith({}, { name: 'Pkg_v1' })],
    ['a bad replaces', csvWith({ replaces: 'Pkg_v0' })],
    ['no display name', csvWith({ displayName: undefined })],
    ['no install modes', csvWith({ installModes: [] })],
    [
      'no supported install mode',
      csvWith({ installModes: [{ type: 'AllNamespaces', supported: false }] }),
    ],
    ['a bad version of Kubernetes', csvWith({ minKubeVersion: 'x' })],
    ['a misspelled annotation', csvWith({}, { annotations: { 'olm.skiprange': '<1.0.0' } })],
    [
      'an example of another kind',
      csvWith({}, { annotations: { 'alm-examples': '[{"apiVersion":"a/v1","kind":"B"}]' } }),
    ],
    ['an owned CRD that is not there', csvWith(owned(thing))],
    [
      'an owned CRD by its group',
      { ...csvWith(owned({ ...thing, group: 'example.com' })), ...withObject(crd()) },
    ],
    ['an owned CRD', { ...csvWith(owned(thing)), ...withObject(crd()) }],
    ['a CRD that is not owned', withObject(crd())],
    ['a CRD of another name', withObject(crd({}, { name: 'others.example.com' }))],
    ['a CRD in a namespace', withObject(crd({}, { namespace: 'n' }))],
    ['a CRD without a scope', withObject(crd({ scope: undefined }))],
    ['a CRD of an odd scope', withObject(crd({ scope: 'Galaxy' }))],
    ['a CRD without versions', withObject(crd({ versions: [] }))],
    ['a CRD of v2', withObject({ ...crd(), apiVersion: 'apiextensions.k8s.io/v2' })],
    [
      'a former CRD',
      withObject({
        ...crd({ versions: undefined, version: 'v1', preserveUnknownFields: false }),
        apiVersion: 'apiextensions.k8s.io/v1beta1',
      }),
    ],
    [
      'a release and a substitute',
      csvWith({ release: '1' }, { annotations: { 'olm.substitutesFor': 'a' } }),
    ],
  ])('%s', async (_what, changes) => {
    const changed: Readonly<Record<string, string | undefined>> = { ...good, ...changes };
    const files = Object.entries(changed).filter(([, content]) => content !== undefined);
    const { ours, theirs } = await judged(
      aTree(Object.fromEntries(files) as Record<string, string>),
    );
    expect(ours).toEqual(theirs);
  });

  test.each(['operatorhub', 'bundle-objects', 'operatorhub, bundle-objects', 'nonsense'])(
    'with %s',
    async (optional) => {
      const { ours, theirs } = await judged(aTree(good), '-o', optional);
      expect(ours).toEqual(theirs);
    },
  );
});

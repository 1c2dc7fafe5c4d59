import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { System } from '../helpers/system.ts';

let system: System;
let kubectl: Kubectl;
let registry: string;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({ kubeconfig: plane.kubeconfig, registry });
});

afterAll(async () => {
  await kubectl.deleteAll('bundles', { ignoreNotFound: true });
  await system.stop();
});

const goodFiles = { 'manifests/cm.yaml': stringifyJson(aConfigMap('good')) };

async function push(
  repository: string,
  layers: Parameters<typeof pushImage>[0]['layers'],
): Promise<BundleSource> {
  await pushImage({ registry, repository, tag: 'v1', layers });
  return anImage(`${registry}/${repository}:v1`);
}

async function settled(name: string): Promise<KubernetesObject> {
  return eventually(async () => {
    const bundle = await kubectl.get('bundle', name);
    const phase = (bundle['status'] as BundleStatus | undefined)?.phase;
    if (phase === undefined || phase === 'Unpacking') throw new Error(`${name} is ${phase}`);
    return bundle;
  });
}

async function unpackMessage(name: string): Promise<string> {
  const bundle = await settled(name);
  expect((bundle['status'] as BundleStatus).phase).not.toBe('Unpacked');
  return conditionOf(bundle, 'Unpacked')?.message ?? '';
}

test('an image is unpacked, pinned to its digest and served', async () => {
  const { digest } = await pushImage({
    registry,
    repository: 'e2e/good',
    tag: 'v1',
    layers: [{ files: goodFiles }],
  });
  await kubectl.apply(aBundle({ name: 'good', source: anImage(`${registry}/e2e/good:v1`) }));
  const bundle = await settled('good');
  expect(bundle['status']).toMatchObject({
    phase: 'Unpacked',
    observedGeneration: 1,
    resolvedSource: { type: 'image', image: { ref: `${registry}/e2e/good@${digest}` } },
    contentURL: `${system.contentAddress}/bundles/good.tgz`,
  });
  expect(conditionOf(bundle, 'Unpacked')).toMatchObject({
    status: 'True',
    reason: 'UnpackSuccessful',
    message: 'Successfully unpacked the image Bundle',
  });
  expect(bundle.metadata.finalizers).toEqual(['core.rukpak.io/delete-cached-bundle']);
  expect((await fetch(`${system.contentAddress}/bundles/good.tgz`)).status).toBe(401);
});

test('the spec cannot be changed', async () => {
  const patch = '{"spec":{"provisionerClassName":"other"}}';
  const { code, stderr } = await kubectl.run([
    'patch',
    'bundle',
    'good',
    '--type=merge',
    '-p',
    patch,
  ]);
  expect(code).not.toBe(0);
  expect(stderr.trim()).toBe(
    'Error from server (bundle.spec is immutable): admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec is immutable',
  );
});

test('a moved tag does not move the Bundle', async () => {
  const before = (await kubectl.get('bundle', 'good'))['status'];
  await push('e2e/good', [{ files: { 'manifests/cm.yaml': stringifyJson(aConfigMap('moved')) } }]);
  await kubectl.must(['label', 'bundle', 'good', 'touched=yes']);
  await system.terminate();
  await system.restart();
  await kubectl.must(['label', 'bundle', 'good', 'touched=again', '--overwrite']);
  await eventually(async () => {
    expect((await kubectl.get('bundle', 'good')).metadata.labels?.['touched']).toBe('again');
  });
  expect((await kubectl.get('bundle', 'good'))['status']).toEqual(before);
});

test('a Bundle of a class that nobody runs gets no status', async () => {
  const source = anImage(`${registry}/e2e/good:v1`);
  await kubectl.apply(aBundle({ name: 'classless', className: 'acme-unknown', source }));
  await kubectl.apply(aBundle({ name: 'after-classless', source }));
  await settled('after-classless');
  expect((await kubectl.get('bundle', 'classless'))['status']).toBeUndefined();
});

describe('refused at admission', () => {
  const image = { ref: 'example.com/x:v1' };
  const git = { repository: 'https://example.com/x', ref: { branch: 'main' } };

  test.each([
    ['two sources', { type: 'image', image, git }, 'oneOf'],
    ['no source', { type: 'image' }, 'oneOf'],
    ['missing ref', { type: 'image', image: {} }, 'spec.source.image.ref: Required value'],
    [
      'a type without its block',
      { type: 'git', image },
      'bundle.spec.source.git must be set for source type "git"',
    ],
    [
      'a directory outside the repository',
      { type: 'git', git: { ...git, directory: '../x' } },
      'bundle.spec.source.git.directory begins with "../": directory must define path within the repository',
    ],
  ])('%s', async (_what, source, text) => {
    const bundle = aBundle({ name: 'refused', source: source as BundleSource });
    const { code, stderr } = await kubectl.run(['create', '-f', '-'], stringifyJson(bundle));
    expect(code).not.toBe(0);
    expect(stderr).toContain(text);
  });
});

describe('refused content', () => {
  const evil = (name: string): { tarEntries: { name: string; content: string }[] } => ({
    tarEntries: [{ name, content: 'x' }],
  });
  const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024));
  const aliases = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 12; level += 1) {
    const previous = String.fromCharCode(96 + level);
    const name = String.fromCharCode(97 + level);
    aliases.push(`${name}: &${name} [${Array(9).fill(`*${previous}`).join(',')}]`);
  }
  const plain = (content: string | Uint8Array): { files: Record<string, string | Uint8Array> } => ({
    files: { 'manifests/x.yaml': content },
  });
  const many = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, index) => [`manifests/${index}`, '']),
  );

  test.each([
    ['dotdot', [evil('../evil.yaml')], '../evil.yaml'],
    ['absolute', [evil('/evil.yaml')], '/evil.yaml'],
    [
      'link',
      [
        {
          tarEntries: [
            { name: 'manifests/x.yaml', type: 'SymbolicLink', linkpath: '../../../etc' },
          ],
        },
      ],
      'manifests/x.yaml',
    ],
    ['bomb', [{ rawLayer: bomb }], '--max-content-compression-ratio'],
    ['entries', [{ files: many }], '--max-content-entries'],
    ['aliases', [plain(aliases.join('\n'))], 'manifests/x.yaml'],
    ['not-utf8', [plain(Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]))], 'manifests/x.yaml'],
    [
      'empty',
      [{ files: { 'manifests/empty.yaml': '# nothing\n' } }],
      'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object',
    ],
    [
      'no-manifests',
      [{ files: { 'README.md': 'x' } }],
      'get objects from bundle manifests: readdir manifests: file does not exist',
    ],
    [
      'sub-directory',
      [{ files: { 'manifests/sub/x.yaml': 'a: b' } }],
      'get objects from bundle manifests: subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/sub"',
    ],
    [
      'text',
      [plain('just text')],
      'get objects from bundle manifests: unable to decode "manifests/x.yaml": json: cannot unmarshal string into Go value of type unstructured.detector',
    ],
  ] as [string, Parameters<typeof push>[1], string][])('%s', async (name, layers, text) => {
    const source = await push(`e2e/bad-${name}`, layers);
    await kubectl.apply(aBundle({ name: `bad-${name}`, source }));
    expect(await unpackMessage(`bad-${name}`)).toContain(text);
    const bundle = await kubectl.get('bundle', `bad-${name}`);
    expect(bundle['status']).toMatchObject({ phase: 'Failing' });
    expect(conditionOf(bundle, 'Unpacked')).toMatchObject({
      status: 'False',
      reason: 'UnpackFailed',
    });
  });

  test('an unknown source type', async () => {
    const source = { type: 'ftp', image: { ref: 'example.com/x' } };
    await kubectl.apply(aBundle({ name: 'bad-type', source }));
    expect(await unpackMessage('bad-type')).toBe(
      'source bundle content: source type "ftp" not supported',
    );
  });

  test('a ClusterServiceVersion with wrong types', async () => {
    const csv = {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name: 'x.v1' },
      spec: { installModes: 'all', install: { spec: { deployments: 7 } } },
    };
    const source = await push('e2e/bad-csv', [
      {
        files: {
          'manifests/csv.yaml': stringifyJson(csv),
          'metadata/annotations.yaml':
            'annotations:\n  operators.operatorframework.io.bundle.package.v1: x\n',
        },
      },
    ]);
    await kubectl.apply(aBundle({ name: 'bad-csv', className: 'core-rukpak-io-registry', source }));
    expect(await unpackMessage('bad-csv')).toContain(
      'convert registry+v1 bundle to plain+v0 bundle: ',
    );
  });

  test('a missing tag and an unreachable registry are pending', async () => {
    await kubectl.apply(
      aBundle({ name: 'no-tag', source: anImage(`${registry}/e2e/good:none`) }),
      aBundle({ name: 'no-registry', source: anImage('127.0.0.1:1/x:v1') }),
    );
    expect(await unpackMessage('no-tag')).toMatch(
      `Back-off pulling image "${registry}/e2e/good:none": `,
    );
    expect(await unpackMessage('no-registry')).toMatch(
      'Back-off pulling image "127.0.0.1:1/x:v1": ',
    );
    expect((await kubectl.get('bundle', 'no-tag'))['status']).toMatchObject({ phase: 'Pending' });
  });

  test('a digest that the registry does not have', async () => {
    const ref = `${registry}/e2e/good@sha256:${'0'.repeat(64)}`;
    await kubectl.apply(aBundle({ name: 'no-digest', source: anImage(ref) }));
    expect(await unpackMessage('no-digest')).toContain(ref);
  });

  test('a good Bundle right after still unpacks', async () => {
    const source = anImage(`${registry}/e2e/good:v1`);
    await kubectl.apply(aBundle({ name: 'good-after', source }));
    expect((await settled('good-after'))['status']).toMatchObject({ phase: 'Unpacked' });
  });

  test('a deleted Bundle takes its archive along', async () => {
    await kubectl.deleteNamed('bundle', ['good-after']);
    expect(await kubectl.exists('bundle', 'good-after')).toBe(false);
  });

  test('a prototype key is data', async () => {
    const object =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"__proto__":"x"}}';
    const source = await push('e2e/proto', [plain(object)]);
    await kubectl.apply(aBundle({ name: 'proto', source }));
    expect((await settled('proto'))['status']).toMatchObject({ phase: 'Unpacked' });
  });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { eventually } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';

const registry = plane.registry;
const kubeconfig = plane.kubeconfig;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const howto = { page: 'install.md', kubectl, kubeconfig };

let system: InClusterSystem;
let folder: string;
/** What a release has as install.yaml, of the checkout. */
let manifest: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-install-'));
  manifest = join(folder, 'install.yaml');
  await writeFile(manifest, await kubectl.must(['kustomize', 'deploy/overlays/self-signed']));
  system = await InClusterSystem.install({ kubectl, registry, inProcess: true });
  await system.startWebhooks([], () => system.overlay.apply());
  await system.startCrdvalidator();
  await system.startCore();
});

afterAll(async () => {
  await system?.remove();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function contentOf(name: string, ...objects: readonly object[]): Promise<BundleSource> {
  const files = plainFiles(objects);
  return await pushContent({ registry, name, version: 1, files });
}

test('the installation is verified as the howto says', { tags: 'long' }, async () => {
  const printed = await eventually(() => followHowto(howto, 'Verify'));
  expect(printed).toContain(
    'bundle.core.rukpak.io/hello-content serverside-applied (server dry run)',
  );
});

describe('the page on troubleshooting has what people see', () => {
  /** Fails unless the page has these very words, and a condition too. */
  async function expectSaid(kind: string, name: string, [type, words]: readonly [string, string]) {
    const page = await readFile(
      join(import.meta.dirname, '../../docs/howto/troubleshooting.md'),
      'utf8',
    );
    expect(page).toContain(words);
    await eventually(async () => {
      const { message } = conditionOf(await kubectl.get(kind, name), type) ?? {};
      expect(message).toContain(words);
    });
  }

  test.each<[name: string, source: BundleSource, words: string]>([
    ['no-registry', anImage('127.0.0.1:1/a:v1'), 'private, loopback or other denied address'],
    ['odd-secret', secretImage('odd'), ' of the system namespace is of type '],
    ['no-upload', { type: 'upload', upload: {} }, 'waiting for bundle to be uploaded'],
    ['no-configmap', ofConfigMap('missing'), 'get configmap '],
    ['no-git', gitSource('missing'), 'configuring Auth error: '],
    ['no-http', httpSource('http://127.0.0.1:1/a.tgz'), 'source bundle content: '],
  ])('Bundle %s', async (name, source, words) => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'odd' } };
    await kubectl.must(
      ['apply', '--namespace=rukpak-system', '-f', '-'],
      JSON.stringify({ ...secret, type: 'Opaque' }),
    );
    await kubectl.apply(aBundle({ name, source }));
    await expectSaid('bundle', name, ['Unpacked', words]);
  });

  test('Bundle of invalid content', async () => {
    const files = { 'README.md': 'no manifests' };
    const source = await pushContent({ registry, name: 'no-manifests', version: 1, files });
    await kubectl.apply(aBundle({ name: 'no-manifests', source }));
    await expectSaid('bundle', 'no-manifests', ['Unpacked', 'readdir manifests: ']);
  });

  test.each<[name: string, object: object, words: string]>([
    ['foreign', aConfigMap('foreign'), ' exists and cannot be imported into the current release: '],
    [
      'no-kind',
      { ...aConfigMap('odd'), apiVersion: 'acme.example/v1', kind: 'Odd' },
      'required resource not found: ',
    ],
    [
      'no-namespace',
      { ...aConfigMap('a'), metadata: { name: 'a', namespace: 'nowhere' } },
      'namespaces "',
    ],
  ])('deployment %s', async (name, object, words) => {
    await kubectl.apply(aConfigMap('foreign'));
    await kubectl.apply(aBundleDeployment({ name, source: await contentOf(name, object) }));
    await expectSaid('bundledeployment', name, ['Installed', words]);
  });

  test('a class that nobody runs', async () => {
    const source = { type: 'upload', upload: {} } satisfies BundleSource;
    await kubectl.apply(aBundle({ name: 'no-class', className: 'nobody', source }));
    await kubectl.must(['annotate', 'bundle', 'no-class', 'retry=1', '--overwrite']);
    expect((await kubectl.get('bundle', 'no-class'))['status']).toBeUndefined();
  });
});

test('objects stay where deployments are deleted without them', async () => {
  const name = 'kept';
  await kubectl.apply(aBundleDeployment({ name, source: await contentOf(name, aConfigMap(name)) }));
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')?.status).toBe('True');
  });
  await kubectl.must(['delete', '--cascade=orphan', 'bundledeployments', name]);
  await followHowto({ ...howto, files: { 'release/install.yaml': manifest } }, 'Uninstall');
  for (const kind of ['bundles', 'namespaces/rukpak-system']) {
    await eventually(async () => {
      const { code, stdout } = await kubectl.run(['get', kind, '--output=name']);
      expect(code === 0 ? stdout : '').toBe('');
    });
  }
  const { metadata } = await kubectl.get('configmap', name, 'default');
  expect(metadata.ownerReferences ?? []).toEqual([]);
  await kubectl.deleteNamed('configmap', [name, 'foreign'], { namespace: 'default' });
});

function secretImage(pullSecret: string): BundleSource {
  return { type: 'image', image: { ref: `${registry}/e2e/private:v1`, pullSecret } };
}

function ofConfigMap(name: string): BundleSource {
  return { type: 'configMaps', configMaps: [{ configMap: { name }, path: 'manifests' }] };
}

function gitSource(name: string): BundleSource {
  const auth = { secret: { name } };
  const repository = 'https://127.0.0.1:1/a';
  return { type: 'git', git: { repository, ref: { branch: 'main' }, auth } };
}

function httpSource(url: string): BundleSource {
  return { type: 'http', http: { url } };
}

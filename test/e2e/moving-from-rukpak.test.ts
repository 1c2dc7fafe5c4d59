// @module-tag long

import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleSource } from '../../api/v1alpha1/index.ts';
import { anArchive } from '../helpers/archives.ts';
import { CertManager } from '../helpers/cert-manager/cert-manager.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { followHowto, howtoBlock, runCommand } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles } from '../helpers/push-content.ts';
import { pushImage } from '../helpers/push-image.ts';
import { Release } from '../helpers/release.ts';
import { rukpakPrograms } from '../helpers/rukpak-v0.16/programs.ts';
import { Rukpak } from '../helpers/rukpak-v0.16/rukpak.ts';
import type { PulledImage } from '../helpers/rukpak-v0.16/unpacking-api-server.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { SelfSignedOverlay } from '../helpers/self-signed-overlay.ts';
import { UnpackedImage } from '../helpers/unpacked-image.ts';

const { registry, kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const selector = 'core.rukpak.io/owner-kind=BundleDeployment';
const namespace = 'rukpak-system';
const page = 'upgrade-from-rukpak.md';
const selfSigned = 'kustomize/overlays/self-signed-from-rukpak';
const byCertManager = 'kustomize/overlays/cert-manager-from-rukpak';
const setID = 'applyset.kubernetes.io/id';
const kinds = 'configmaps,services,deployments,jobs,customresourcedefinitions';
const names = ['moved-app', 'moved-chart', 'moved-upload'] as const;

const images = new Map<string, PulledImage>();
const crd = aCRD('Moved') as KubernetesObject;
const crdName = crd.metadata.name ?? '';
const uploadFiles = plainFiles([aConfigMap('moved-upload', { a: '1' })]);

let folder: string;
let release: Release;
let image: UnpackedImage | undefined;
let manifests: string;
let uploads: string;
let howto: Parameters<typeof followHowto>[0];
let certManager: CertManager | undefined;
let rukpak: Rukpak | undefined;
let system: InClusterSystem | undefined;
let node: ForwardingNode | undefined;
let before: ReadonlyMap<string, string>;

/** Of everything that RukPak has made or a user owns: what must be the same ever after. */
async function identities(): Promise<ReadonlyMap<string, string>> {
  const objects = [
    ...(await kubectl.list('bundledeployments')),
    ...(await kubectl.list(kinds, selector)),
    ...(await kubectl.list(crdName)),
    await kubectl.get('customresourcedefinition', crdName),
  ];
  return new Map(
    objects.map(({ kind, metadata: { namespace: place = '', name = '', uid = '' } }) => [
      `${kind}/${place}/${name}`,
      uid,
    ]),
  );
}

async function nothingWasMadeAnew(): Promise<void> {
  const after = await identities();
  const gone = [...before].filter(([path, uid]) => after.get(path) !== uid);
  expect(gone.map(([path]) => path)).toEqual([]);
}

/** Pushes content, as an image that RukPak's pods can unpack too. */
async function pushed(name: string, tag: string, files: Record<string, string>) {
  const repository = `e2e/${name}`;
  const { digest } = await pushImage({ registry, repository, tag, layers: [{ files }] });
  const ref = `${registry}/${repository}:${tag}`;
  const id = `${registry}/${repository}@${digest}`;
  images.set(ref, { id, archive: await anArchive(files) });
  return anImage(ref);
}

function aDeployment(name: string, className: string, source: BundleSource): object {
  const provisionerClassName = `core-rukpak-io-${className}`;
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: {
      provisionerClassName,
      template: {
        metadata: { labels: { app: name } },
        spec: {
          provisionerClassName:
            className === 'helm' ? provisionerClassName : 'core-rukpak-io-plain',
          source,
        },
      },
    },
  };
}

/** RukPak reads one object of a file that begins as JSON. */
function inFiles(objects: readonly object[]): Record<string, string> {
  return Object.fromEntries(
    objects.map((object, index) => [`manifests/${index}.json`, JSON.stringify(object)]),
  );
}

function theApp(replicas?: number): readonly object[] {
  const labels = { app: 'moved-app' };
  const metadata = { name: 'moved-app', namespace: 'default' };
  const containers = [{ name: 'main', image: 'example.invalid/none:1' }];
  const template = { metadata: { labels }, spec: { containers } };
  const scale = replicas === undefined ? {} : { replicas };
  return [
    aConfigMap('moved-app', { version: replicas === undefined ? '2' : '1' }),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { ...scale, selector: { matchLabels: labels }, template },
    },
  ];
}

/** CRDs in `crds/`, and a hook whose Job stays: RukPak marks neither. */
function theChart(): Record<string, string> {
  const annotations = { 'helm.sh/hook': 'pre-install,pre-upgrade' };
  const metadata = { name: 'moved-hook', namespace: 'default', annotations };
  const containers = [{ name: 'main', image: 'example.invalid/none:1' }];
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
  return {
    'Chart.yaml': 'apiVersion: v2\nname: moved\nversion: 1.0.0\n',
    'crds/moved.yaml': JSON.stringify(crd),
    'templates/hook.yaml': JSON.stringify(job),
    'templates/settings.yaml': JSON.stringify(aConfigMap('moved-chart', { a: '1' })),
  };
}

/** RukPak's own webhooks do not run here: what they would let pass, passes. */
async function guard(failurePolicy: 'Ignore' | 'Fail'): Promise<void> {
  for (const name of ['rukpak-validating-webhook-configuration', 'crd-validation-webhook']) {
    const found = await kubectl.get('validatingwebhookconfiguration', name);
    const patch = (found['webhooks'] as readonly object[]).map((_, index) => ({
      op: 'replace',
      path: `/webhooks/${index}/failurePolicy`,
      value: failurePolicy,
    }));
    const target = ['validatingwebhookconfiguration', name, '--type=json'];
    await kubectl.must(['patch', ...target, '-p', JSON.stringify(patch)]);
  }
}

async function startRukpak(): Promise<Rukpak> {
  const programs = await rukpakPrograms(new AbortController().signal);
  return await Rukpak.start({ programs, kubeconfig, images });
}

async function isInstalled(name: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(conditionOf(found, 'Installed'), `${name}\n${rukpak?.log.slice(-4000)}`).toMatchObject({
      status: 'True',
      reason: 'InstallationSucceeded',
    });
    expect(found['status']).toMatchObject({ observedGeneration: found.metadata.generation });
    return found;
  });
}

async function bundleOf(name: string): Promise<string> {
  return await eventually(async () => {
    const [bundle] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
    expect(bundle).toBeDefined();
    return bundle?.metadata.name ?? '';
  });
}

async function patch(kind: string, name: string, change: object): Promise<void> {
  const flags = ['--namespace=default', '--type=merge', '-p', JSON.stringify(change)];
  await kubectl.must(['patch', kind, name, ...flags]);
}

async function fieldsOf(kind: string): Promise<Record<string, unknown>> {
  const found = await kubectl.get(kind, 'moved-app', 'default');
  return found['spec'] as Record<string, unknown>;
}

/** The programs of what was applied; kubectl reaches core. */
async function startPrograms(overlay: string): Promise<void> {
  const byServices = overlay === byCertManager;
  const path = release.path(overlay);
  system = await InClusterSystem.prepare({ kubectl, registry, overlay: path, image, byServices });
  await system.startWebhooks();
  await system.startCrdvalidator();
  const core = await system.startCore();
  node = await ForwardingNode.start({
    kubectl,
    kubeconfig,
    clusterDir: plane.clusterDir,
    name: 'moving',
    forwards: { 8443: core.ports[1] ?? 0 },
  });
  await node.take(namespace, 'core');
}

async function stopPrograms(): Promise<void> {
  await node?.remove();
  await system?.stop();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-moving-'));
  manifests = join(folder, 'rukpak.yaml');
  uploads = join(folder, 'upload');
  release = await Release.shared();
  image = await UnpackedImage.pull(await release.image());
  const overlays = [selfSigned, byCertManager].map((each) => [
    `release/${each}`,
    release.path(each),
  ]);
  const files = { 'rukpak.yaml': manifests, ...Object.fromEntries(overlays) };
  howto = { page, kubectl, kubeconfig, files };
  await cleanUp();
  certManager = await CertManager.start({ kubectl, kubeconfig });
  const { overlay } = await rukpakPrograms(new AbortController().signal);
  await writeFile(manifests, await kubectl.must(['kustomize', overlay]));
  // As RukPak's documentation says.
  await eventually(async () => await kubectl.must(['apply', '-f', manifests]));
  await certManager.issued();
  await guard('Ignore');
  const running = await startRukpak();
  rukpak = running;
  const app = await pushed('moved-app', 'v1', inFiles(theApp(2)));
  const chart = await pushed('moved-chart', 'v1', theChart());
  const upload: BundleSource = { type: 'upload', upload: {} };
  await eventually(async () => {
    await kubectl.apply(
      aDeployment('moved-app', 'plain', app),
      aDeployment('moved-chart', 'helm', chart),
      aDeployment('moved-upload', 'plain', upload),
    );
  });
  const archive = await anArchive(uploadFiles);
  // RukPak's cache knows a Bundle a moment later.
  await eventually(async () => await running.upload(await bundleOf('moved-upload'), archive));
  for (const name of names) await isInstalled(name);
  await kubectl.apply({
    apiVersion: 'e2e.example.com/v1',
    kind: 'Moved',
    metadata: { name: 'of-a-user', namespace: 'default' },
  });
}, 1_800_000);

afterAll(async () => {
  await rukpak?.stop();
  await stopPrograms();
  await cleanUp();
  await certManager?.remove();
  await image?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Of this run, or of one that was cut short. */
async function cleanUp(): Promise<void> {
  for (const overlay of [selfSigned, byCertManager]) {
    const applied = await SelfSignedOverlay.render(kubectl, release.path(overlay));
    await applied.remove();
  }
  const every = ['--all-namespaces', '--selector', selector, '--ignore-not-found'];
  await kubectl.run(['delete', 'configmaps,services,deployments,jobs', ...every]);
  await kubectl.deleteNamed('job', ['moved-hook'], { namespace: 'default', ignoreNotFound: true });
  await kubectl.deleteNamed('crd', [crdName], { ignoreNotFound: true });
}

test('RukPak repairs as a program without a name', async () => {
  await patch('deployment', 'moved-app', { spec: { replicas: 3 } });
  await eventually(async () => {
    expect(await fieldsOf('deployment')).toMatchObject({ replicas: 2 });
  });
  const { metadata } = await kubectl.get('deployment', 'moved-app', 'default');
  const { managedFields } = metadata as { managedFields?: readonly { manager: string }[] };
  expect(managedFields?.map(({ manager }) => manager)).toContain('Go-http-client');
});

test('the howto is followed', async () => {
  before = await identities();
  await guard('Fail');
  await followHowto(howto, 'Stop RukPak');
  await rukpak?.stop();
  rukpak = undefined;
  // RukPak could not repair it either.
  await patch('service', 'moved-app', { spec: { ports: [{ port: 8080 }] } });
  const refused = await kubectl.run(['annotate', 'bundles', '--all', 'unguarded=yes']);
  expect(refused.stderr).toContain('failed calling webhook "vbundles.core.rukpak.io"');
  await followHowto(howto, "Remove RukPak's certificates");
  for (const kind of ['certificates', 'issuers', 'clusterissuers']) {
    expect(await kubectl.list(`${kind}.cert-manager.io`)).toEqual([]);
  }
  await followHowto(howto, 'Install');
  const configuration = await kubectl.get(
    'validatingwebhookconfiguration',
    'rukpak-validating-webhook-configuration',
  );
  expect(configuration['webhooks']).toHaveLength(4);
  expect(configuration.metadata.annotations ?? {}).not.toHaveProperty([
    'cert-manager.io/inject-ca-from',
  ]);
  await startPrograms(selfSigned);
});

test('one command adopts what a chart left without marks', async () => {
  const message = await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'moved-chart');
    const installed = conditionOf(found, 'Installed');
    expect(installed?.message).toContain('core.rukpak.io/adopt=');
    return installed?.message ?? '';
  });
  const command = /kubectl annotate .*$/.exec(message)?.[0] ?? '';
  expect(command).toContain('--overwrite');
  expect(command).toContain('Job/default/moved-hook');
  expect(command).toContain(`CustomResourceDefinition/${crdName}`);
  await runCommand(howto, command);
  await isInstalled('moved-chart');
});

test('what RukPak has installed is ours, and nothing was made anew', async () => {
  for (const name of ['moved-app', 'moved-chart']) {
    await eventually(async () => {
      expect((await isInstalled(name)).metadata.labels).toHaveProperty([setID]);
    });
  }
  await nothingWasMadeAnew();
  expect(await fieldsOf('service')).toMatchObject({ ports: [{ port: 80 }] });
});

async function uploadAgain(): Promise<void> {
  await runCommand(howto, `rukpakctl run moved-upload ${uploads}`);
}

test('content that is uploaded again changes none of its objects', async () => {
  const { metadata } = await kubectl.get('configmap', 'moved-upload', 'default');
  for (const [path, text] of Object.entries(uploadFiles)) {
    await mkdir(dirname(join(uploads, path)), { recursive: true });
    await writeFile(join(uploads, path), text);
  }
  await uploadAgain();
  await eventually(async () => {
    const found = await isInstalled('moved-upload');
    expect(found.metadata.labels).toHaveProperty([setID]);
  });
  const after = await kubectl.get('configmap', 'moved-upload', 'default');
  expect(after.metadata.uid).toBe(metadata.uid);
  expect(after['data']).toEqual({ a: '1' });
});

test('the next version drops a field that RukPak repaired', async () => {
  const source = await pushed('moved-app', 'v2', inFiles(theApp()));
  const path = '/spec/template/spec/source';
  const change = JSON.stringify([{ op: 'replace', path, value: source }]);
  await kubectl.must(['patch', 'bundledeployment', 'moved-app', '--type=json', '-p', change]);
  await eventually(async () => {
    // What the API server has by default.
    expect(await fieldsOf('deployment')).toMatchObject({ replicas: 1 });
    const found = await kubectl.get('configmap', 'moved-app', 'default');
    expect(found['data']).toEqual({ version: '2' });
  });
  await nothingWasMadeAnew();
});

test('the way back is followed, and RukPak has everything again', async () => {
  await stopPrograms();
  await followHowto(howto, 'Way back');
  const found = await kubectl.list('bundledeployments');
  for (const { metadata } of found) {
    expect(metadata.finalizers ?? []).not.toContain('core.rukpak.io/delete-objects');
    expect(metadata.labels ?? {}).not.toHaveProperty([setID]);
  }
  await certManager?.issued();
  await guard('Ignore');
  rukpak = await startRukpak();
  for (const name of ['moved-app', 'moved-chart']) await isInstalled(name);
  await nothingWasMadeAnew();
  await eventually(async () => {
    const { metadata } = await kubectl.get('configmap', 'moved-app', 'default');
    expect(metadata.ownerReferences).toMatchObject([{ name: 'moved-app' }]);
  });
});

test('a second upgrade, with cert-manager, finds everything again', async () => {
  await guard('Fail');
  await followHowto(howto, 'Stop RukPak');
  await rukpak?.stop();
  rukpak = undefined;
  for (const line of await howtoBlock(page, byCertManager)) await runCommand(howto, line);
  await certManager?.issued();
  await startPrograms(byCertManager);
  for (const name of ['moved-app', 'moved-chart']) {
    await eventually(async () => {
      expect((await isInstalled(name)).metadata.labels).toHaveProperty([setID]);
    });
  }
  await nothingWasMadeAnew();
  await uploadAgain();
  await isInstalled('moved-upload');
  expect(await followHowto(howto, 'After')).toContain('deleted');
  const ours = await namesOf('-k', release.path(byCertManager));
  const theirs = await namesOf('-f', manifests, '--ignore-not-found');
  expect(theirs.filter((name) => !ours.includes(name))).toEqual([]);
});

test('each Secret has one Certificate, which its authority outlives', async () => {
  const secrets = (await kubectl.list('certificates.cert-manager.io')).map(
    ({ metadata, spec }) => `${metadata.namespace}/${(spec as { secretName: string }).secretName}`,
  );
  expect(secrets.toSorted()).toEqual([
    'crdvalidator-system/crd-validation-webhook-certificate',
    `${namespace}/core-cert`,
    `${namespace}/rukpak-ca`,
    `${namespace}/rukpak-webhook-certificate`,
  ]);
  expect(await kubectl.exists('secret', 'helm-provisioner-cert', namespace)).toBe(false);
  const { 'tls.crt': issued = '', 'ca.crt': ca = '' } = await secretData(kubectl, 'core-cert');
  const [certificate, authority] = [issued, ca].map((text) => new X509Certificate(text));
  expect(Date.parse(authority?.validTo ?? '')).toBeGreaterThan(
    Date.parse(certificate?.validTo ?? ''),
  );
});

async function namesOf(...from: readonly string[]): Promise<readonly string[]> {
  const output = await kubectl.must(['get', '--output=name', ...from]);
  return output.split('\n').filter(Boolean);
}

test('what is deleted goes, and a user’s custom resource stays with its CRD', async () => {
  await kubectl.deleteNamed('bundledeployment', ['moved-app']);
  await eventually(async () => {
    expect(await kubectl.exists('deployment', 'moved-app', 'default')).toBe(false);
  }, patiently);
  expect(await kubectl.exists(crdName, 'of-a-user', 'default')).toBe(true);
});

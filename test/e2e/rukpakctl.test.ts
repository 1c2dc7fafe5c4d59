import { execFile as execFileCallback } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BundleDeploymentStatus, BundleStatus } from '../../api/v1alpha1/index.ts';
import { issueCertificateAuthority } from '../../core/platform/certificates/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundle, aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { type CtlResult, rukpakctl, spawnRukpakctl } from '../helpers/rukpakctl.ts';
import { writeKubeconfig } from '../helpers/service-account.ts';

const execFile = promisify(execFileCallback);
const namespace = 'rukpak-system';
const upload = { type: 'upload', upload: {} };
const mebibyte = 1024 * 1024;
const plain = plainFiles([aConfigMap('ctl-content')]);
/** As Go's log package begins its lines. */
const stamp = '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d ';

let kubectl: Kubectl;
let registry: string;
let folder: string;
let system: InClusterSystem;
let core: LocalPod;
let node: ForwardingNode;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  folder = await mkdtemp(join(tmpdir(), 'rukpakctl-e2e-'));
  system = await InClusterSystem.install({ kubectl, registry, inProcess: true });
  await system.startWebhooks();
  core = await system.startCore();
  // No validator of CRDs runs here, and without it none could be bootstrapped.
  await kubectl.deleteNamed('validatingwebhookconfiguration', ['crd-validation-webhook']);
  node = await ForwardingNode.start({
    kubectl,
    kubeconfig: plane.kubeconfig,
    clusterDir: plane.clusterDir,
    name: 'rukpakctl',
    forwards: { 8443: core.ports[1] ?? 0 },
  });
  await node.take(namespace, 'core');
});

afterAll(async () => {
  // Before the node: a pod whose node is gone is collected a minute later, and its namespace with it.
  await system?.remove();
  await node?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function ctl(args: readonly string[], input = ''): Promise<CtlResult> {
  return await rukpakctl(args, { input, env: { KUBECONFIG: plane.kubeconfig } });
}

async function unpacked(name: string): Promise<BundleStatus> {
  return await eventually(async () => {
    const bundle = await kubectl.get('bundle', name);
    const status = (bundle['status'] ?? {}) as BundleStatus;
    if (status.phase !== 'Unpacked') throw new Error(JSON.stringify(status));
    return status;
  });
}

/** A bundle directory of one ConfigMap. */
async function aDirectory(name: string, data: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(folder, `${name}-${Object.keys(data).join('-')}`);
  for (const [path, text] of Object.entries(plainFiles([aConfigMap(name, data)]))) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  return directory;
}

/** Waits until a deployment is installed from a Bundle, and healthy. */
async function installed(name: string, bundle: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const { activeBundle } = deployment['status'] as BundleDeploymentStatus;
    const states = ['Installed', 'Healthy'].map((type) => conditionOf(deployment, type)?.status);
    if (activeBundle === bundle && states.every((state) => state === 'True')) return;
    throw new Error(JSON.stringify(deployment['status']));
  });
}

async function drop(...names: readonly string[]): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', names);
}

describe('rukpakctl run', () => {
  test('uploads a directory, which is installed; again it is up to date; changed it pivots', async () => {
    const first = await ctl(['run', 'ctl-run', await aDirectory('ctl-run', { a: '1' })]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const lines =
      /^bundledeployment\.core\.rukpak\.io "ctl-run" applied\nsuccessfully uploaded bundle content for "(ctl-run-\w+)"\n$/;
    const bundle = lines.exec(first.stdout)?.[1] ?? first.stdout;
    await installed('ctl-run', bundle);
    const live = await kubectl.get('bundle', bundle);
    expect(live.metadata.labels).toMatchObject({
      app: 'ctl-run',
      bundleDigest: expect.stringMatching(/^[0-9a-f]{1,16}$/),
    });
    const again = await ctl(['run', 'ctl-run', await aDirectory('ctl-run', { a: '1' })]);
    expect(again).toEqual({
      code: 0,
      stderr: '',
      stdout: `bundledeployment.core.rukpak.io "ctl-run" applied\nbundle "${bundle}" is already up-to-date\n`,
    });
    const changed = [await aDirectory('ctl-run', { a: '1', b: '2' }), '--output=json'];
    const result = JSON.parse((await ctl(['run', 'ctl-run', ...changed])).stdout);
    expect(result).toEqual({
      bundleDeployment: 'ctl-run',
      bundle: expect.stringMatching(/^ctl-run-\w+$/),
      digest: expect.stringMatching(/^[0-9a-f]{1,16}$/),
      result: 'uploaded',
    });
    expect(result.bundle).not.toBe(bundle);
    await installed('ctl-run', result.bundle);
    expect((await kubectl.get('configmap', 'ctl-run', 'default'))['data']).toEqual({
      a: '1',
      b: '2',
    });
    await eventually(async () => expect(await kubectl.exists('bundle', bundle)).toBe(false));
    await drop('ctl-run');
  });

  test('installs into a namespace, and waits until that is done', async () => {
    await kubectl.must(['create', 'namespace', 'ctl-wait']);
    const directory = await aDirectory('ctl-wait', { a: '1' });
    const flags = ['--wait', '--timeout=5m', '-n', 'ctl-wait'];
    const { code, stdout, stderr } = await ctl(['run', 'ctl-wait', directory, ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\nbundledeployment\.core\.rukpak\.io "ctl-wait" is installed\n$/);
    const { status } = await kubectl.get('bundledeployment', 'ctl-wait');
    expect(status).toMatchObject({ installNamespace: 'ctl-wait' });
    const listed = (await ctl(['status', '-n', 'ctl-wait'])).stdout.split('\n');
    expect(listed[1]).toMatch(/^ctl-wait +Healthy /);
    expect(listed).toHaveLength(3);
    await drop('ctl-wait');
    await kubectl.deleteNamed('namespace', ['ctl-wait']);
  });

  test('goes to a server directly, and with a token', async () => {
    const account = { namespace, name: 'ctl-uploader' };
    await kubectl.must(['create', 'serviceaccount', account.name, '--namespace', namespace]);
    const subject = `--serviceaccount=${namespace}:${account.name}`;
    const binding = [
      'create',
      'clusterrolebinding',
      'ctl-uploader',
      '--clusterrole=cluster-admin',
      subject,
    ];
    await kubectl.must(binding);
    const user = `--as=system:serviceaccount:${namespace}:${account.name}`;
    await eventually(async () => await kubectl.must(['auth', 'can-i', '*', '*', user]));
    const kubeconfig = await writeKubeconfig(kubectl, account, folder);
    const authority = join(folder, 'ca.crt');
    const { ca } = await system.contentServer(core);
    await writeFile(authority, ca);
    const direct = [`--server=https://localhost:${core.ports[1]}`, '--ca-file', authority];
    const directory = await aDirectory('ctl-direct', { a: '1' });
    const identity = ['--kubeconfig', kubeconfig];
    const { code, stdout } = await ctl(['run', 'ctl-direct', directory, ...identity, ...direct]);
    expect(code).toBe(0);
    expect(stdout).toContain('successfully uploaded bundle content for "ctl-direct-');
    await drop('ctl-direct');
    await kubectl.deleteNamed('clusterrolebinding', ['ctl-uploader']);
    await kubectl.deleteNamed('serviceaccount', [account.name], { namespace });
  });

  test('sends many megabytes, and hears of it where they are too many', async () => {
    const directory = await aDirectory('ctl-large', { a: '1' });
    // It does not compress.
    await writeFile(join(directory, 'noise'), randomBytes(10 * mebibyte));
    const { stdout, stderr } = await ctl(['run', 'ctl-large', directory, '--output=json']);
    expect(stderr).toBe('');
    await installed('ctl-large', JSON.parse(stdout).bundle);
    await writeFile(join(directory, 'noise'), randomBytes(20 * mebibyte));
    const refused = await ctl(['run', 'ctl-large', directory]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(new RegExp(`^${stamp}.*${16 * mebibyte} bytes`));
    await drop('ctl-large');
  });

  test('says why there is no Bundle', async () => {
    const directory = await aDirectory('ctl-nobody', { a: '1' });
    const flags = ['--bundle-deployment-provisioner-class=nobody', '--timeout=1s'];
    const { code, stderr } = await ctl(['run', 'ctl-nobody', directory, ...flags]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^${stamp}BundleDeployment "ctl-nobody" has made no Bundle in 1 s: no manager has reconciled it`,
      ),
    );
    expect(await kubectl.exists('bundledeployment', 'ctl-nobody')).toBe(false);
  });

  test('trusts the CA beside the certificate, not one that another installation left', async () => {
    const directory = await aDirectory('ctl-stale', { a: '1' });
    const notBefore = Date.now();
    const stale = await issueCertificateAuthority({ notBefore, notAfter: notBefore + 3_600_000 });
    const data = { 'ca.crt': Buffer.from(stale.certificate).toString('base64') };
    const metadata = { name: 'rukpak-ca', namespace };
    await kubectl.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data });
    const { code, stderr } = await ctl(['run', 'ctl-stale', directory]);
    await kubectl.deleteNamed('secret', ['rukpak-ca'], { namespace });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    await drop('ctl-stale');
  });

  test('says that no CA is there, or no Service', async () => {
    const directory = await aDirectory('ctl-lost', { a: '1' });
    const flags = ['--upload-service-name=other'];
    const { code, stderr } = await ctl(['run', 'ctl-lost', directory, ...flags]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'neither Secret "rukpak-ca" nor "other-cert" in namespace "rukpak-system" has key ca.crt',
    );
    // Its Bundle is there, and so need not be waited for.
    expect((await ctl(['run', 'ctl-lost', directory])).code).toBe(0);
    const missing = [...flags, '--timeout=2s', '--ca-secret-name=core-cert'];
    expect((await ctl(['run', 'ctl-lost', directory, ...missing])).stderr).toContain(
      'cannot upload to the content server: services "other" not found',
    );
    await drop('ctl-lost');
  });

  test('that fails keeps what core adopts from an orphaned deployment', async () => {
    const name = 'ctl-orphan';
    const directory = await aDirectory(name, { a: '1' });
    expect((await ctl(['run', name, directory, '--wait'])).code).toBe(0);
    const { metadata } = await kubectl.get('configmap', name, 'default');
    await kubectl.must(['delete', 'bundledeployment', name, '--cascade=orphan', '--timeout=300s']);
    const lost = ['--server=https://127.0.0.1:1', '--timeout=2s'];
    const { code, stderr } = await ctl(['run', name, directory, ...lost]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /; BundleDeployment "ctl-orphan" was kept, because (core has begun to install it|its Bundle "ctl-orphan-\w+" has content): rukpakctl status ctl-orphan\n/,
    );
    await eventually(async () => {
      const { activeBundle } = (await kubectl.get('bundledeployment', name))[
        'status'
      ] as BundleDeploymentStatus;
      expect(activeBundle).toMatch(/^ctl-orphan-/);
    });
    expect((await kubectl.get('configmap', name, 'default')).metadata.uid).toBe(metadata.uid);
    await drop(name);
  });
});

describe('rukpakctl alpha bootstrap', () => {
  test('applies manifests, which their BundleDeployment takes over as they are', async () => {
    const kind = 'Bootstrap';
    const names = ['ctl-boot', 'ctl-boot-custom'] as const;
    const custom = {
      apiVersion: 'e2e.example.com/v1',
      kind,
      metadata: { name: names[1], namespace: 'default' },
      spec: { size: 1 },
    };
    // In no order that could be applied.
    const manifests = plainFiles([custom, aConfigMap(names[0], { a: '1' }), aCRD(kind)]);
    const input = manifests['manifests/all.yaml'] ?? '';
    const first = await ctl(['alpha', 'bootstrap', 'ctl-boot'], input);
    expect(first).toEqual({
      code: 0,
      stderr: '',
      stdout: 'successfully bootstrapped bundle deployment "ctl-boot"\n',
    });
    const before = await kubectl.get('configmap', names[0], 'default');
    expect(before.metadata).toMatchObject({
      labels: {
        'core.rukpak.io/owner-kind': 'BundleDeployment',
        'core.rukpak.io/owner-name': 'ctl-boot',
      },
    });
    const [bundle] = await kubectl.list('bundles', 'core.rukpak.io/owner-name=ctl-boot');
    await installed('ctl-boot', bundle?.metadata.name ?? '');
    const after = await kubectl.get('configmap', names[0], 'default');
    expect(after.metadata.uid).toBe(before.metadata.uid);
    const { uid } = (await kubectl.get('bundledeployment', 'ctl-boot')).metadata;
    const tracked = { 'core.rukpak.io/tracking-id': expect.stringMatching(`^${uid}:`) };
    expect(after.metadata).toMatchObject({ annotations: tracked });
    expect(await kubectl.get('bootstraps', names[1], 'default')).toMatchObject({
      metadata: { annotations: tracked },
    });
    expect(await ctl(['alpha', 'bootstrap', 'ctl-boot'], input)).toEqual({
      code: 0,
      stderr: '',
      stdout: 'bundle deployment "ctl-boot" is already up-to-date\n',
    });
    // What the next version drops goes, though it was bootstrapped.
    const fewer = plainFiles([aConfigMap(names[0], { b: '2' }), aCRD(kind)]);
    await ctl(['alpha', 'bootstrap', 'ctl-boot'], fewer['manifests/all.yaml']);
    await eventually(async () => {
      expect((await kubectl.get('configmap', names[0], 'default'))['data']).toEqual({ b: '2' });
      expect(await kubectl.exists('bootstraps', names[1], 'default')).toBe(false);
    });
    await drop('ctl-boot');
  });

  test('leaves the objects of others alone', async () => {
    const labels = {
      'core.rukpak.io/owner-kind': 'BundleDeployment',
      'core.rukpak.io/owner-name': 'someone',
    };
    const theirs = aConfigMap('ctl-theirs', { a: 'theirs' }) as { metadata: object };
    await kubectl.apply({ ...theirs, metadata: { ...theirs.metadata, labels } });
    const input = plainFiles([aConfigMap('ctl-theirs', { a: 'ours' })])['manifests/all.yaml'];
    const { code, stderr } = await ctl(['alpha', 'bootstrap', 'ctl-thief'], input);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^${stamp}ConfigMap "ctl-theirs" in namespace "default" exists and belongs to BundleDeployment "someone": `,
      ),
    );
    expect(await kubectl.exists('bundledeployment', 'ctl-thief')).toBe(false);
    await kubectl.deleteNamed('configmap', ['ctl-theirs'], { namespace: 'default' });
  });
});

describe('kubectl bundle', () => {
  test('is found by kubectl, which completes it too', async () => {
    const bin = fileURLToPath(new URL('../../bin', import.meta.url));
    const env = {
      ...process.env,
      KUBECONFIG: plane.kubeconfig,
      PATH: `${bin}:${process.env['PATH']}`,
    };
    const run = async (...args: readonly string[]): Promise<string> =>
      (await execFile(plane.kubectl, args, { env })).stdout;
    expect(await run('bundle', 'version')).toMatch(/^revision: "/);
    expect(await run('__complete', 'bundle', 'cont')).toMatch(/^content\tList the files/);
    await kubectl.apply(aBundle({ name: 'ctl-named', className: 'nobody', source: upload }));
    // It gives a shell nothing where the API server takes seconds.
    await eventually(async () => {
      expect(await run('__complete', 'bundle', 'content', 'ctl-na')).toMatch(/^ctl-named\n/);
    });
    await kubectl.deleteNamed('bundle', ['ctl-named']);
  });
});

/** Of what `content` makes for the time that it reads; the garbage collector takes the account. */
async function nothingLeft(): Promise<void> {
  const kinds = 'clusterrolebindings,serviceaccounts';
  expect(await kubectl.must(['get', 'clusterrolebindings', '-oname'])).not.toContain('rukpakctl-');
  await eventually(async () => {
    expect(await kubectl.must(['get', kinds, '-A', '-oname'])).not.toContain('rukpakctl-');
  }, patiently);
}

describe('rukpakctl content', () => {
  test('lists what is stored, and leaves nothing behind', async () => {
    const source = await pushContent({ registry, name: 'ctl-content', version: 1, files: plain });
    await kubectl.apply(aBundle({ name: 'ctl-content', source }));
    await unpacked('ctl-content');
    const size = plain['manifests/all.yaml']?.length ?? 0;
    expect(await ctl(['content', 'ctl-content'])).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'drwxr-xr-x 0/0         0 1970-01-01 00:00:00 .\n',
        'drwxr-xr-x 0/0         0 1970-01-01 00:00:00 manifests\n',
        `-rw-r--r-- 0/0 ${String(size).padStart(9)} 1970-01-01 00:00:00 manifests/all.yaml\n`,
      ].join(''),
    });
    const json = await ctl(['content', 'ctl-content', '--output=json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      bundle: 'ctl-content',
      entries: [{ path: '.' }, { path: 'manifests' }, { path: 'manifests/all.yaml', size }],
    });
    await nothingLeft();
    await kubectl.deleteNamed('bundle', ['ctl-content']);
  });

  test('cleans up when it is interrupted', async () => {
    const source = await pushContent({ registry, name: 'ctl-stop', version: 1, files: plain });
    await kubectl.apply(aBundle({ name: 'ctl-stop', source }));
    await unpacked('ctl-stop');
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const args = ['content', 'ctl-stop', `--server=http://127.0.0.1:${port}`];
    const { code, stderr } = await spawnRukpakctl(args, {
      env: { KUBECONFIG: plane.kubeconfig },
      onStart: (child) => void once(silent, 'connection').then(() => child.kill('SIGINT')),
    });
    silent.close();
    expect(code).toBe(1);
    expect(stderr).toContain('content command failed: received SIGINT');
    await nothingLeft();
    await kubectl.deleteNamed('bundle', ['ctl-stop']);
  });

  test('says that there is no such Bundle', async () => {
    const { code, stdout, stderr } = await ctl(['content', 'badname']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const text = 'content command failed: bundles.core.rukpak.io "badname" not found';
    expect(stderr).toMatch(new RegExp(`^${stamp}${text}\n$`));
  });

  test('says that a Bundle has no content yet', async () => {
    await kubectl.apply(aBundle({ name: 'ctl-empty', className: 'nobody', source: upload }));
    const { code, stderr } = await ctl(['content', 'ctl-empty']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^${stamp}content command failed: error: url is not available\n$`),
    );
    await kubectl.deleteNamed('bundle', ['ctl-empty']);
  });
});

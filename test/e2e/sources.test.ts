import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { defaultLimits, unpackBundle } from '../../core/content/index.ts';
import {
  type Certificates,
  generateCertificates,
} from '../../deploy/local/cluster/certificates.ts';
import { anArchive, checksumOf } from '../helpers/archives.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { FileServer } from '../helpers/file-server.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { System, type SystemOptions } from '../helpers/system.ts';

const namespace = 'rukpak-system';

let kubectl: Kubectl;
let system: System;

async function start(options: Partial<SystemOptions>): Promise<void> {
  const { kubeconfig, registry } = plane;
  system = await System.start({ kubeconfig, registry, ...options });
}

/** Other objects go while the webhooks still answer. */
async function stop(...others: readonly (readonly string[])[]): Promise<void> {
  await kubectl.deleteAll('bundledeployments,bundles', { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  for (const object of others) await kubectl.run(['delete', ...object]);
  await system.stop();
}

beforeAll(() => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
});

function manifest(configMap: string): Record<string, string> {
  return { 'manifests/cm.yaml': stringifyJson(aConfigMap(configMap)) };
}

async function installed(name: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const expected = { status: 'True', reason: 'InstallationSucceeded' };
    expect(conditionOf(deployment, 'Installed')).toMatchObject(expected);
  });
}

async function bundleOf(deployment: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const [bundle] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${deployment}`);
    if (bundle === undefined) throw new Error(`${deployment} has no Bundle yet`);
    return bundle;
  });
}

function statusOf(bundle: KubernetesObject): BundleStatus {
  return (bundle['status'] as BundleStatus | undefined) ?? {};
}

async function unpacked(name: string, expected: object): Promise<BundleStatus> {
  return await eventually(async () => {
    const bundle = await kubectl.get('bundle', name);
    expect(conditionOf(bundle, 'Unpacked')).toMatchObject(expected);
    return statusOf(bundle);
  });
}

async function archives(): Promise<readonly string[]> {
  return (await readdir(system.archives)).filter((file) => file.endsWith('.tgz'));
}

async function filesOf(archive: Uint8Array): Promise<unknown> {
  const { signal } = new AbortController();
  const { files } = await unpackBundle(Readable.from([archive]), { limits: defaultLimits, signal });
  return [...files].map(([path, content]) => [path, Buffer.from(content).toString()]);
}

async function storedArchive(bundle: string): Promise<unknown> {
  return await filesOf(await readFile(join(system.archives, `${bundle}.tgz`)));
}

/** As a disk that was lost with its pod. */
async function loseCache(): Promise<void> {
  await system.kill();
  await rm(system.archives, { recursive: true });
  await system.restart();
}

describe('a file server with TLS, an authority of its own and a password', () => {
  const user = { username: 'robot', password: 'p@ss:word' };
  let files: FileServer;
  let certificates: Certificates;

  beforeAll(async () => {
    certificates = await generateCertificates();
    files = await FileServer.start({ tls: certificates.server, user });
    await start({ run: RukpakProcess });
    await kubectl.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'file-server', namespace },
      stringData: { ...user, 'ca.crt': certificates.ca.cert },
    });
  });

  afterAll(async () => {
    await stop(['secret', 'file-server', '--namespace', namespace]);
    await files.stop();
  });

  function source(path: string): BundleSource {
    const auth = { secret: { name: 'file-server' } };
    return { type: 'http', http: { url: `${files.url}${path}`, auth } };
  }

  test('provides the installed content, pinned to its digest', async () => {
    const archive = await anArchive(manifest('over-http'));
    files.files.set('/app.tgz', archive);
    await kubectl.apply(aBundleDeployment({ name: 'http', source: source('/app.tgz') }));
    await installed('http');
    expect(await kubectl.exists('configmap', 'over-http', 'default')).toBe(true);
    expect(statusOf(await bundleOf('http')).resolvedSource?.http).toEqual({
      ...source('/app.tgz').http,
      checksum: checksumOf(archive),
    });
    expect(files.seen).toHaveLength(1);
  });

  test('is asked again where the content was lost, for the same content', async () => {
    const { metadata } = await bundleOf('http');
    const before = files.seen.length;
    await loseCache();
    await eventually(async () => expect(await archives()).toEqual([`${metadata.name}.tgz`]));
    expect(files.seen.length).toBe(before + 1);
    expect(statusOf(await bundleOf('http')).phase).toBe('Unpacked');
  });

  test('does not slip in other content for what was lost', async () => {
    const { metadata } = await bundleOf('http');
    const pinned = statusOf(await bundleOf('http')).resolvedSource?.http?.checksum;
    const other = await anArchive(manifest('other'));
    files.files.set('/app.tgz', other);
    await loseCache();
    await unpacked(metadata.name ?? '', {
      status: 'False',
      reason: 'UnpackFailed',
      message: `source bundle content: GET ${files.url}/app.tgz: the content has the digest ${checksumOf(other)}, but ${pinned} is expected: put the expected content back to this URL, or make another Bundle for the new one`,
    });
    expect(await kubectl.exists('configmap', 'other', 'default')).toBe(false);
    expect(await kubectl.exists('configmap', 'over-http', 'default')).toBe(true);
  });

  test('may get the file later', async () => {
    await kubectl.apply(aBundle({ name: 'later', source: source('/later.tgz') }));
    await unpacked('later', {
      reason: 'UnpackFailed',
      message: `source bundle content: GET ${files.url}/later.tgz: unexpected status "404 Not Found"`,
    });
    files.files.set('/later.tgz', await anArchive(manifest('later')));
    await unpacked('later', { message: 'Successfully unpacked the http Bundle' });
  });

  test('has nothing for a source whose block is another’s', async () => {
    const mixed = { type: 'http', upload: {} };
    await kubectl.apply(aBundle({ name: 'mixed', source: mixed }));
    await unpacked('mixed', {
      reason: 'UnpackFailed',
      message: 'source bundle content: bundle source http configuration is unset',
    });
  });

  test('must have a checksum that can be one', async () => {
    const http = { url: `${files.url}/app.tgz`, checksum: 'sha256:abc' };
    const bundle = stringifyJson(aBundle({ name: 'odd', source: { type: 'http', http } }));
    const { stderr } = await kubectl.run(['create', '-f', '-'], bundle);
    expect(stderr).toContain('spec.source.http.checksum');
  });
});

describe('ConfigMaps of the system namespace', () => {
  beforeAll(() => start({}));

  afterAll(async () => {
    const parts = ['part-1', 'part-2', 'part-3', 'part-4'];
    await stop(['configmap', ...parts, '--namespace', namespace]);
  });

  function content(name: string, data: Record<string, string>): object {
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      immutable: true,
      data,
    };
  }

  function source(...names: readonly string[]): BundleSource {
    const configMaps = names.map((name) => ({ configMap: { name }, path: 'manifests' }));
    return { type: 'configMaps', configMaps };
  }

  test('are waited for, and installed when the last of them comes', async () => {
    await kubectl.apply(content('part-1', { 'a.yaml': stringifyJson(aConfigMap('from-part-1')) }));
    await kubectl.apply(aBundleDeployment({ name: 'parts', source: source('part-1', 'part-2') }));
    const { metadata } = await bundleOf('parts');
    await unpacked(metadata.name ?? '', {
      reason: 'UnpackFailed',
      message: `source bundle content: get configmap ${namespace}/part-2: ConfigMap "part-2" not found`,
    });
    await kubectl.apply(content('part-2', { 'b.yaml': stringifyJson(aConfigMap('from-part-2')) }));
    await installed('parts');
    for (const name of ['from-part-1', 'from-part-2']) {
      expect(await kubectl.exists('configmap', name, 'default')).toBe(true);
    }
    expect(statusOf(await bundleOf('parts')).resolvedSource).toEqual(source('part-1', 'part-2'));
  });

  test('may not give one file twice', async () => {
    await kubectl.apply(content('part-3', { 'a.yaml': stringifyJson(aConfigMap('twice')) }));
    await kubectl.apply(aBundle({ name: 'twice', source: source('part-3', 'part-1') }));
    await unpacked('twice', {
      message:
        'source bundle content: duplicate path "manifests/a.yaml" found in configmaps [part-1 part-3]',
    });
  });

  test('may be touched without anybody reading them again', async () => {
    const before = await bundleOf('parts');
    await kubectl.must(['label', 'configmap', 'part-1', 'touched=yes', '-n', namespace]);
    // Comes to the same workers after it.
    await kubectl.apply(content('part-4', { 'a.yaml': stringifyJson(aConfigMap('touched')) }));
    await kubectl.apply(aBundle({ name: 'after', source: source('part-4') }));
    await unpacked('after', { reason: 'UnpackSuccessful' });
    expect(await bundleOf('parts')).toEqual(before);
  });
});

const storages = [['directory'], ['cluster']] as const;

describe.each(storages)('uploads in --upload-storage=%s', (storage) => {
  const account = { namespace: 'default', name: `uploader-${storage}` };
  const name = `upload-${storage}`;
  const source: BundleSource = { type: 'upload', upload: {} };
  let token: string;

  beforeAll(async () => {
    const flags = [
      `--upload-storage=${storage}`,
      '--upload-storage-sync-interval=1s',
      '--max-upload-bytes=1000000',
    ];
    await start({ flags, run: RukpakProcess });
    await kubectl.must(['create', 'serviceaccount', account.name, '--namespace=default']);
    const role = ['--clusterrole=bundle-uploader', `--serviceaccount=default:${account.name}`];
    await kubectl.must([
      'create',
      'clusterrolebinding',
      `${account.name}-bundle-uploader`,
      ...role,
    ]);
    token = await tokenOf(kubectl, account);
  });

  afterAll(async () => {
    await stop(
      ['serviceaccount', account.name, '--namespace=default'],
      ['clusterrolebinding', `${account.name}-bundle-uploader`],
    );
  });

  async function put(bundle: string, body: Uint8Array, bearer = token) {
    const answer = await fetch(`${system.contentAddress}/uploads/${bundle}.tgz`, {
      method: 'PUT',
      body: Buffer.from(body),
      headers: { authorization: `Bearer ${bearer}` },
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** How much of uploads is stored, in files or Secrets. */
  async function stored(): Promise<number> {
    if (storage === 'directory') {
      const files = await readdir(join(system.archives, '..', 'uploads'));
      return files.filter((file) => file.endsWith('.tgz')).length;
    }
    return (await kubectl.list('secrets', 'core.rukpak.io/upload')).length;
  }

  test('are waited for, received and installed', async () => {
    await kubectl.apply(aBundleDeployment({ name, source }));
    const bundle = (await bundleOf(name)).metadata.name ?? '';
    await unpacked(bundle, {
      status: 'False',
      reason: 'UnpackPending',
      message: 'waiting for bundle to be uploaded',
    });
    expect(await put(bundle, Buffer.from('x'), 'no-token')).toEqual({
      status: 401,
      text: 'Unauthorized\n',
    });
    const archive = await anArchive(manifest(name));
    expect(await put(bundle, archive)).toEqual({ status: 201, text: '' });
    await installed(name);
    expect(await kubectl.exists('configmap', name, 'default')).toBe(true);
    expect(statusOf(await bundleOf(name)).resolvedSource).toEqual(source);
    expect(await put(bundle, archive)).toEqual({ status: 204, text: '' });
    expect(await put(bundle, Buffer.from('other'))).toEqual({
      status: 409,
      text: 'bundle has already been unpacked, cannot change content of existing bundle\n',
    });
  });

  test('that are no bundle may be replaced', async () => {
    await kubectl.apply(aBundle({ name: `bad-${storage}`, source }));
    expect((await put(`bad-${storage}`, Buffer.from('this is no archive'))).status).toBe(201);
    await unpacked(`bad-${storage}`, {
      reason: 'UnpackFailed',
      message: 'source bundle content: read response as gzip: gzip: invalid header',
    });
    const good = await anArchive(manifest('replaced'));
    expect((await put(`bad-${storage}`, good)).status).toBe(201);
    await unpacked(`bad-${storage}`, { message: 'Successfully unpacked the upload Bundle' });
  });

  test('are refused where they are too large, or for nobody', async () => {
    expect(await put('none', Buffer.from('x'))).toEqual({
      status: 404,
      text: 'Bundle.core.rukpak.io "none" not found\n',
    });
    await kubectl.apply(aBundle({ name: `large-${storage}`, source }));
    expect(await put(`large-${storage}`, Buffer.alloc(1_000_001))).toEqual({
      status: 413,
      text: 'the upload is larger than the limit of 1000000 bytes (--max-upload-bytes)\n',
    });
  });

  test('of several at once one is taken, and what is unpacked is what is stored', async () => {
    const bundle = `race-${storage}`;
    await kubectl.apply(aBundle({ name: bundle, source }));
    const bodies = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (letter) => await anArchive(manifest(`race-${letter}`))),
    );
    const answers = await Promise.all(bodies.map(async (body) => await put(bundle, body)));
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    for (const { status } of answers) expect([201, 409, 429]).toContain(status);
    await eventually(async () => {
      await unpacked(bundle, { reason: 'UnpackSuccessful' });
      const stored = await storedArchive(bundle);
      const again: Awaited<ReturnType<typeof put>>[] = [];
      for (const body of bodies) again.push(await put(bundle, body));
      const kept = bodies[again.findIndex(({ status }) => status === 204)];
      expect(again.filter(({ status }) => status === 409)).toHaveLength(3);
      expect(stored).toEqual(kept && (await filesOf(kept)));
    });
  });

  test('survive a restart, and are what lost content is made of again', async () => {
    const bundle = (await bundleOf(name)).metadata.name ?? '';
    await loseCache();
    await eventually(async () => expect(await archives()).toContain(`${bundle}.tgz`));
    expect(statusOf(await bundleOf(name)).phase).toBe('Unpacked');
  });

  test('go with their Bundles', async () => {
    expect(await stored()).toBeGreaterThan(0);
    await kubectl.deleteAll('bundledeployments,bundles');
    await eventually(async () => expect(await stored()).toBe(0));
  });
});

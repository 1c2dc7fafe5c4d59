import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleSource, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentSpec } from '../../api/v1alpha1/bundle-deployment.ts';
import { anArchive, checksumOf } from '../helpers/archives.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { FileServer } from '../helpers/file-server.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System, type SystemOptions } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const systemNamespace = 'rukpak-system';
const team = 'tenants-team';
const loopback = '--allow-source-address=127.0.0.0/8';

let kubectl: Kubectl;
let system: System;
let files: FileServer;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } });
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [team], { wait: false, ignoreNotFound: true });
});

beforeEach(async () => {
  files = await FileServer.start();
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments,bundles', { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await files.stop();
});

async function start(options: Partial<SystemOptions>): Promise<void> {
  system = await System.start({ kubeconfig, registry, restrictSources: true, ...options });
}

async function content(configMap: string): Promise<Uint8Array> {
  return await anArchive({ 'manifests/cm.yaml': stringifyJson(aConfigMap(configMap)) });
}

function source(path: string, secret?: string): BundleSource {
  const auth = secret === undefined ? {} : { auth: { secret: { name: secret } } };
  return { type: 'http', http: { url: `${files.url}${path}`, ...auth } };
}

function statusOf(bundle: KubernetesObject): BundleStatus {
  return (bundle['status'] as BundleStatus | undefined) ?? {};
}

async function told(bundle: string, message: string): Promise<void> {
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundle', bundle), 'Unpacked');
    expect(condition?.message).toContain(message);
  });
}

async function installed(name: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function bundleOf(deployment: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const [bundle] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${deployment}`);
    if (bundle === undefined) throw new Error(`${deployment} has no Bundle yet`);
    return bundle;
  });
}

describe('by default', () => {
  beforeAll(async () => await start({}));
  afterAll(async () => await system.stop());

  test.each(['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])(
    'no source reaches this machine as %s',
    async (host) => {
      files.files.set('/a.tgz', await content('reached'));
      const { port } = new URL(files.url);
      const http = { url: `http://${host}:${port}/a.tgz` };
      await kubectl.apply(aBundle({ name: 'tenants-http', source: { type: 'http', http } }));
      await told('tenants-http', 'has a private, loopback or other denied address');
      const git = { repository: `http://${host}:${port}/r`, ref: { branch: 'main' } };
      await kubectl.apply(aBundle({ name: 'tenants-git', source: { type: 'git', git } }));
      await told('tenants-git', 'has a private, loopback or other denied address');
      const image = { ref: `127.0.0.1:${port}/a:v1` };
      await kubectl.apply(aBundle({ name: 'tenants-image', source: { type: 'image', image } }));
      await told('tenants-image', 'has a private, loopback or other denied address');
      expect(files.seen).toEqual([]);
    },
  );
});

describe('where their servers may be reached', () => {
  beforeAll(async () => await start({ flags: [loopback], run: RukpakProcess }));
  afterAll(async () => await system.stop());

  async function aSecret(namespace: string, hosts?: string): Promise<void> {
    const annotations = hosts === undefined ? {} : { 'core.rukpak.io/source-hosts': hosts };
    const stringData = { username: 'robot', password: `of-${namespace}` };
    const metadata = { name: 'login', namespace, annotations };
    await kubectl.deleteNamed('secret', ['login'], { namespace, ignoreNotFound: true });
    await kubectl.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData });
  }

  function shown(): readonly (string | undefined)[] {
    return files.seen.map(({ authorization }) => authorization);
  }

  test('a Secret of the system goes to the hosts that it names only', async () => {
    files.files.set('/a.tgz', await content('scoped'));
    const { host } = new URL(files.url);
    await aSecret(systemNamespace);
    await kubectl.apply(aBundle({ name: 'tenants-scoped', source: source('/a.tgz', 'login') }));
    await told('tenants-scoped', `Secret "login" of the system namespace names no hosts`);
    await aSecret(systemNamespace, 'git.example.com,127.0.0.1');
    await told('tenants-scoped', `is not for host "${host}"`);
    expect(shown()).toEqual([]);
    await aSecret(systemNamespace, `git.example.com, ${host}`);
    await told('tenants-scoped', 'Successfully unpacked');
    const login = Buffer.from(`robot:of-${systemNamespace}`).toString('base64');
    expect(shown()).toEqual([`Basic ${login}`]);
  });

  test('a deployment with a ServiceAccount has Secrets of its namespace, with its rights', async () => {
    files.files.set('/b.tgz', await content('of-account'));
    await aSecret(systemNamespace, new URL(files.url).host);
    await aSecret(team, new URL(files.url).host);
    const metadata = { name: 'deployer', namespace: team };
    await kubectl.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    const deployment = aBundleDeployment({
      name: 'tenants-account',
      source: source('/b.tgz', 'login'),
    }) as { spec: object };
    const serviceAccount = { namespace: team, name: 'deployer' };
    await kubectl.apply({ ...deployment, spec: { ...deployment.spec, serviceAccount } });
    const { name = '' } = (await bundleOf('tenants-account')).metadata;
    await told(name, `cannot be read with the permissions of ServiceAccount ${team}/deployer`);
    expect(shown()).toEqual([]);
    const reader = ['--verb=get', '--resource=secrets', '--namespace', team];
    await kubectl.must(['create', 'role', 'reader', ...reader]);
    const subject = ['--role=reader', `--serviceaccount=${team}:deployer`, '--namespace', team];
    await kubectl.must(['create', 'rolebinding', 'reader', ...subject]);
    await told(name, 'Successfully unpacked');
    const login = Buffer.from(`robot:of-${team}`).toString('base64');
    expect(shown()).toEqual([`Basic ${login}`]);
  });

  test('a deployment with a ServiceAccount has no Secret of the system, paused or orphaned', async () => {
    files.files.set('/p.tgz', await content('private'));
    await aSecret(systemNamespace, new URL(files.url).host);
    await kubectl.deleteNamed('secret', ['login'], { namespace: team, ignoreNotFound: true });
    const metadata = { name: 'deployer', namespace: team };
    await kubectl.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    const name = 'tenants-private';
    const wanted = aBundleDeployment({ name, source: source('/p.tgz', 'login') });
    const { spec } = wanted as unknown as { spec: BundleDeploymentSpec };
    const deployment = { ...wanted, spec: { ...spec, serviceAccount: metadata } };
    await kubectl.apply(deployment);
    const bundle = (await bundleOf(name)).metadata.name ?? '';
    await told(bundle, `Secret "login"`);
    const other = { ...spec.template, spec: { ...spec.template.spec, source: source('/q.tgz') } };
    const paused = { ...deployment.spec, template: other, paused: true };
    await kubectl.apply({ ...deployment, spec: paused });
    await kubectl.must(['annotate', '--overwrite', 'bundle', bundle, 'retry=1']);
    await told(
      bundle,
      `BundleDeployment "${name}" names this Bundle neither in its template nor in`,
    );
    // What the garbage collector does; it does not know yet the kinds of a new cluster.
    const orphaned = '--patch={"metadata":{"ownerReferences":null}}';
    await kubectl.must(['patch', 'bundle', bundle, '--type=merge', orphaned]);
    await kubectl.must(['delete', 'bundledeployment', name, '--cascade=orphan']);
    await kubectl.must(['annotate', '--overwrite', 'bundle', bundle, 'retry=2']);
    await told(
      bundle,
      `BundleDeployment "${name}" does not exist, so core cannot tell which Secrets`,
    );
    expect(shown()).toEqual([]);
    // Its own Bundle again, so the account reads, and finds no Secret of its own.
    await kubectl.apply(deployment);
    await told(bundle, `Secret "login"`);
    expect(shown()).toEqual([]);
  });

  test('who may write statuses alone changes no content', async () => {
    const good = await content('good');
    files.files.set('/c.tgz', good);
    await kubectl.apply(aBundleDeployment({ name: 'tenants-forged', source: source('/c.tgz') }));
    await installed('tenants-forged');
    const { metadata, ...bundle } = await bundleOf('tenants-forged');
    const { name = '' } = metadata;
    const before = statusOf({ ...bundle, metadata });
    const evil = await content('evil');
    files.files.set('/c.tgz', evil);
    const pin = { 'core.rukpak.io/pin': checksumOf(evil) };
    const resolvedSource = { ...source('/c.tgz') };
    Object.assign(resolvedSource.http ?? {}, { checksum: checksumOf(evil) });
    const forged = { metadata: { annotations: pin }, status: { phase: '', resolvedSource } };
    await kubectl.must([
      'patch',
      'bundle',
      name,
      '--subresource=status',
      '--type=merge',
      `--patch=${JSON.stringify(forged)}`,
    ]);
    const involvedObject = expect.objectContaining({ name });
    const event = { type: 'Warning', reason: 'ResolvedSourceRestored', involvedObject };
    await eventually(async () => {
      expect(await kubectl.list('events')).toContainEqual(expect.objectContaining(event));
    });
    await eventually(async () => {
      const { resolvedSource: now, phase } = statusOf(await kubectl.get('bundle', name));
      expect({ now, phase }).toEqual({ now: before.resolvedSource, phase: 'Unpacked' });
    });
    expect(files.seen).toHaveLength(1);
    // A lost archive is no way to it either.
    await system.kill();
    await rm(system.archives, { recursive: true });
    const patch = `--patch=${JSON.stringify(forged)}`;
    await kubectl.must(['patch', 'bundle', name, '--subresource=status', '--type=merge', patch]);
    await system.restart();
    await told(name, `but ${checksumOf(good)} is expected`);
    const kept = await kubectl.get('bundle', name);
    expect(kept.metadata.annotations?.['core.rukpak.io/pin']).toBe(checksumOf(good));
    expect(await kubectl.exists('configmap', 'evil', 'default')).toBe(false);
    expect(await kubectl.exists('configmap', 'good', 'default')).toBe(true);
    const note = ['annotate', '--overwrite', 'bundle', name, 'core.rukpak.io/pin=sha256:0'];
    expect((await kubectl.run(note)).stderr).toContain('is immutable');
  });

  test('installed objects are repaired without their Bundle and source', async () => {
    files.files.set('/d.tgz', await content('kept-installed'));
    await kubectl.apply(aBundleDeployment({ name: 'tenants-kept', source: source('/d.tgz') }));
    await installed('tenants-kept');
    const { metadata } = await bundleOf('tenants-kept');
    files.files.delete('/d.tgz');
    await kubectl.deleteNamed('bundle', [metadata.name ?? ''], { wait: false });
    await eventually(async () => {
      const made = await bundleOf('tenants-kept');
      expect(made.metadata.uid).not.toBe(metadata.uid);
      expect(statusOf(made).phase).toBe('Failing');
    });
    for (const restarts of [false, true]) {
      if (restarts) {
        await system.kill();
        await system.restart();
      }
      await kubectl.deleteNamed('configmap', ['kept-installed'], { namespace: 'default' });
      await eventually(async () =>
        expect(await kubectl.exists('configmap', 'kept-installed', 'default')).toBe(true),
      );
    }
    files.files.set('/d.tgz', await content('kept-next'));
    await eventually(
      async () => expect(await kubectl.exists('configmap', 'kept-next', 'default')).toBe(true),
      patiently,
    );
  });
});

describe('with --require-service-account', () => {
  const flags = [loopback, '--require-service-account'];
  beforeAll(async () => await start({ flags }));

  afterAll(async () => {
    await system.stop();
    await kubectl.deleteNamed('clusterrolebinding', ['tenants-admin'], { ignoreNotFound: true });
  });

  test('objects without a namespace are not installed in the system’s', async () => {
    const { metadata: _, ...unplaced } = aConfigMap('unplaced') as { metadata: object };
    const object = { ...unplaced, metadata: { name: 'unplaced' } };
    files.files.set('/e.tgz', await anArchive({ 'manifests/cm.yaml': stringifyJson(object) }));
    const binding = ['--clusterrole=cluster-admin', `--serviceaccount=${team}:admin`];
    await kubectl.run(['create', 'serviceaccount', 'admin', '--namespace', team]);
    await kubectl.run(['create', 'clusterrolebinding', 'tenants-admin', ...binding]);
    const serviceAccount = { namespace: team, name: 'admin' };
    const deployment = aBundleDeployment({
      name: 'tenants-unplaced',
      source: source('/e.tgz'),
    }) as { spec: object };
    const spec = { ...deployment.spec, serviceAccount };
    await kubectl.apply({ ...deployment, spec });
    await eventually(async () => {
      const condition = conditionOf(
        await kubectl.get('bundledeployment', 'tenants-unplaced'),
        'Installed',
      );
      expect(condition?.message).toContain(
        'ConfigMap "unplaced" would be installed in the system namespace "rukpak-system", which --require-service-account does not allow: set spec.installNamespace',
      );
    });
    expect(await kubectl.exists('configmap', 'unplaced', systemNamespace)).toBe(false);
    await kubectl.apply({ ...deployment, spec: { ...spec, installNamespace: team } });
    await installed('tenants-unplaced');
    expect(await kubectl.exists('configmap', 'unplaced', team)).toBe(true);
  });
});

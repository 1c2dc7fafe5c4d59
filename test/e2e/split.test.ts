import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packBundle } from '../../core/content/index.ts';
import { callerObjects, callers } from '../helpers/callers.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  apiServerOnly,
  archivesOf,
  contentHost,
  InClusterSystem,
} from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundle, aBundleDeployment, aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { aTree } from '../helpers/registry-bundle.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { SystemSmoke } from '../helpers/system-smoke.ts';
import { tlsGet } from '../helpers/tls-request.ts';

const { registry, kubeconfig } = plane;
const namespace = 'rukpak-system';
const crd = 'sprigs.e2e.example.com';
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const smoke = new SystemSmoke({ kubectl, registry, prefix: 'split' });

let system: InClusterSystem;
let unpack: LocalPod;
let apply: LocalPod;

beforeAll(async () => {
  system = await InClusterSystem.install({ kubectl, registry, overlay: 'split' });
  await system.startWebhooks(apiServerOnly(plane.clusterDir));
  await system.startCrdvalidator();
  unpack = await system.startUnpack();
  apply = await system.startApply(unpack);
  await kubectl.apply(...callerObjects());
});

afterAll(async () => {
  await system?.remove();
  await kubectl.deleteNamed('crd', [crd], { ignoreNotFound: true });
  const kinds = 'namespaces,clusterrolebindings';
  await kubectl.deleteAll(kinds, { selector: callers.selector });
});

test.each(['core', 'core-apply', 'rukpak-webhooks'])('pods of %s are admitted', async (name) => {
  const place = [`--namespace=${namespace}`, '--timeout=300s'];
  await kubectl.must(['rollout', 'status', `deployment/${name}`, ...place]);
});

test('rukpakctl verify looks at both halves', async () => {
  await eventually(async () => {
    const { stdout } = await rukpakctl(['verify'], { env: { KUBECONFIG: kubeconfig } });
    for (const line of [
      `ServiceAccount ${namespace}/core-unpack: permissions asked about: 6, all granted\n`,
      `Deployment ${namespace}/core-apply: Deployment is available`,
      'Lease core.rukpak.io: held by ',
      'Lease unpack.core.rukpak.io: held by ',
    ]) {
      expect(stdout).toContain(`ok       ${line}`);
    }
  });
});

describe('who unpacks', () => {
  test.each([
    [['list', 'bundles.core.rukpak.io'], 'yes'],
    [['patch', 'bundles.core.rukpak.io/status'], 'yes'],
    [['get', 'configmaps', `--namespace=${namespace}`], 'yes'],
    [['create', 'secrets', '--namespace=rukpak-uploads'], 'yes'],
    [['get', 'secrets', `--namespace=${namespace}`], 'no'],
    [['get', 'secret/rukpak-seed', `--namespace=${namespace}`], 'no'],
    [['get', 'secret/core-cert', `--namespace=${namespace}`], 'no'],
    [['get', 'secrets', '--namespace=default'], 'no'],
    [['get', 'configmaps', '--namespace=default'], 'no'],
    [['create', 'pods', `--namespace=${namespace}`], 'no'],
    [['create', 'bundles.core.rukpak.io'], 'no'],
    [['delete', 'bundles.core.rukpak.io'], 'no'],
    [['get', 'bundledeployments.core.rukpak.io'], 'yes'],
    [['patch', 'bundledeployments.core.rukpak.io'], 'no'],
    [['impersonate', 'serviceaccounts', `--namespace=${namespace}`], 'no'],
    [['create', 'serviceaccounts/token', `--namespace=${namespace}`], 'no'],
    [['get', '/bundles/x.tgz'], 'no'],
  ])('may it %j: %s', async (what, answer) => {
    const user = `--as=system:serviceaccount:${namespace}:core-unpack`;
    expect((await kubectl.run(['auth', 'can-i', ...what, user])).stdout.trim()).toBe(answer);
  });

  test('a Secret that a Bundle names is read once it is granted by name', async () => {
    const name = 'split-credentials';
    const data = { '.dockerconfigjson': JSON.stringify({ auths: {} }) };
    const type = 'kubernetes.io/dockerconfigjson';
    const metadata = { name, namespace };
    await kubectl.apply({ apiVersion: 'v1', kind: 'Secret', metadata, type, stringData: data });
    const { image } = await smoke.content(name, 1, [aConfigMap(name)]);
    const source = { type: 'image' as const, image: { ref: image?.ref ?? '', pullSecret: name } };
    await kubectl.apply(aBundle({ name, source }));
    await eventually(async () => {
      const { message = '' } = conditionOf(await kubectl.get('bundle', name), 'Unpacked') ?? {};
      expect(message).toContain(`secrets "${name}" is forbidden`);
    });
    const place = `--namespace=${namespace}`;
    const role = ['create', 'role', name, '--verb=get', '--resource=secrets'];
    await kubectl.must([...role, `--resource-name=${name}`, place]);
    const account = `--serviceaccount=${namespace}:core-unpack`;
    await kubectl.must(['create', 'rolebinding', name, `--role=${name}`, account, place]);
    await eventually(async () => {
      expect((await kubectl.get('bundle', name))['status']).toMatchObject({ phase: 'Unpacked' });
    });
    await kubectl.deleteNamed('bundle', [name]);
    await kubectl.deleteNamed('secret,role,rolebinding', [name], { namespace });
  });

  test('an upload is kept in the namespace of uploads', async () => {
    const name = 'split-upload';
    await kubectl.apply(aBundle({ name, source: { type: 'upload', upload: {} } }));
    await eventually(async () => {
      expect((await kubectl.get('bundle', name))['status']).toMatchObject({ phase: 'Pending' });
    });
    const archive: Buffer[] = [];
    for await (const chunk of packBundle(aTree({ 'manifests/a.yaml': 'a: 1\n' }))) {
      archive.push(Buffer.from(chunk));
    }
    const { 'ca.crt': ca = '' } = await secretData(kubectl, 'core-cert');
    await eventually(async () => {
      const sent = httpsRequest({
        host: '127.0.0.1',
        port: unpack.ports[1],
        servername: contentHost,
        ca,
        path: `/uploads/${name}.tgz`,
        method: 'PUT',
        headers: { authorization: `Bearer ${await callerToken('uploader')}` },
        agent: false,
      });
      sent.end(Buffer.concat(archive));
      const [response] = await once(sent, 'response');
      response.resume();
      expect(response.statusCode).toBeLessThan(300);
    });
    const isUpload = ['--selector=core.rukpak.io/upload', '--output=name'];
    const list = (where: string) =>
      kubectl.must(['get', 'secrets', `--namespace=${where}`, ...isUpload]);
    expect(await list('rukpak-uploads')).not.toBe('');
    expect(await list(namespace)).toBe('');
    await kubectl.deleteNamed('bundle', [name]);
    expect(await list('rukpak-uploads')).toBe('');
  });

  test('it knows no plans, and says who does', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, 'core-cert');
    const server = { port: unpack.ports[1] ?? 0, servername: contentHost, ca };
    const token = await tokenOf(kubectl, { namespace, name: 'core-admin' });
    const answer = await tlsGet(server, '/bundledeployments/any/plan', token);
    expect(answer.status).toBe(421);
    expect(answer.body.toString()).toContain('--service-name=core-apply');
  });
});

test.each([
  ['/bundles/x.tgz', 'yes'],
  ['/uploads/x.tgz', 'no'],
])('who applies may read %s: %s', async (path, answer) => {
  const user = `--as=system:serviceaccount:${namespace}:core-admin`;
  const { stdout } = await kubectl.run(['auth', 'can-i', 'get', path, user]);
  expect(stdout.trim()).toBe(answer);
});

async function callerToken(name: string): Promise<string> {
  return await tokenOf(kubectl, { namespace: callers.namespace, name });
}

test('content is installed, repaired, changed and removed', () => smoke.livesThroughPlain());

test('so is a chart', () => smoke.livesThroughChart());

test('a CRD is not changed to what its custom resources break', async () => {
  const name = 'split-crd';
  const first = aCRD('Sprig');
  await smoke.rollOut({ name, source: await smoke.content(name, 1, [first]) });
  await smoke.isInstalled(name);
  const sprig = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Sprig',
    metadata: { name: 's', namespace: 'default' },
    spec: {},
  };
  await eventually(() => kubectl.must(['apply', '-f', '-'], JSON.stringify(sprig)));
  const strict = JSON.parse(
    JSON.stringify(first).replace(
      '"spec":{"type":"object",',
      '"spec":{"type":"object","required":["size"],',
    ),
  );
  await smoke.rollOut({ name, source: await smoke.content(name, 2, [strict]) });
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const { message = '' } = conditionOf(deployment, 'Installed') ?? {};
    expect(message).toContain('[].spec.size: Required value');
  });
  await kubectl.deleteNamed('bundledeployment', [name]);
});

// A Bundle may say nothing for half a minute before its deployment tells of it.
test('who applies fetches nothing itself', { tags: 'long' }, async () => {
  const name = 'split-unfetched';
  await unpack.end('SIGTERM');
  const source = await smoke.content(name, 1, [aConfigMap(name)]);
  await smoke.rollOut({ name, source });
  await eventually(async () => {
    const { message = '' } =
      conditionOf(await kubectl.get('bundledeployment', name), 'HasValidBundle') ?? {};
    expect(message).toMatch(/^Waiting for the .* Bundle to be unpacked$/);
  });
  await unpack.start();
  await smoke.isInstalled(name);
  expect(apply.log).not.toContain(`e2e/${name}`);
  await kubectl.deleteNamed('bundledeployment', [name]);
});

test('content that is lost is fetched again, while what is installed stands', {
  tags: 'long',
}, async () => {
  const name = 'split-lost';
  await smoke.rollOut({ name, source: await smoke.content(name, 1, [aConfigMap(name)]) });
  await smoke.isInstalled(name);
  await unpack.end('SIGKILL');
  for (const archive of await archivesOf(unpack)) {
    await rm(unpack.local(`/var/cache/bundles/${archive}`));
  }
  await apply.end('SIGKILL');
  await apply.start();
  await eventually(() => expect(apply.log).toContain('is not served at the moment'));
  const deployment = await kubectl.get('bundledeployment', name);
  expect(conditionOf(deployment, 'Installed')?.status).toBe('True');
  expect(conditionOf(deployment, 'HasValidBundle')?.status).toBe('True');
  await unpack.start();
  await kubectl.deleteNamed('configmap', [name], { namespace: 'default' });
  await eventually(() => kubectl.get('configmap', name, 'default'));
  await smoke.isInstalled(name);
  await kubectl.deleteNamed('bundledeployment', [name]);
});

test('the namespace of uploads is not deleted while there are Bundles', async () => {
  const name = 'split-guard';
  const source = await smoke.content(name, 1, [aConfigMap(name)]);
  await kubectl.apply(aBundleDeployment({ name, source }));
  const { stderr } = await kubectl.run(['delete', 'namespace', 'rukpak-uploads', '--wait=false']);
  expect(stderr).toContain('it holds the uploads of their content');
  await kubectl.deleteNamed('bundledeployment', [name]);
});

test('no right was missing but the one that was granted later', () => {
  const lines = system.logs.flatMap((log) => log.split('\n'));
  const missing = lines.filter((line) => /forbidden/i.test(line));
  expect(missing.filter((line) => !line.includes('split-credentials'))).toEqual([]);
});

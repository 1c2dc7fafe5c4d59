import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { BundleStatus } from '../../api/v1alpha1/bundle.ts';
import type { GitSource } from '../../api/v1alpha1/index.ts';
import {
  type Certificates,
  generateCertificates,
} from '../../deploy/local/cluster/certificates.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { type GitServer, startGitServer } from '../../deploy/local/git/git-server.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { SSHServer } from '../helpers/ssh-server.ts';
import { System } from '../helpers/system.ts';

/** Private git repositories, from kubectl to installed objects. */
const namespace = 'rukpak-system';
const login = { username: 'me', password: 'pässword' };

let root: string;
let commit: string;
let certificates: Certificates;
let https: GitServer;
let ssh: SSHServer;
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-git-'));
  await chmod(root, 0o755);
  const repository = await TestRepository.create(root, 'app');
  commit = await repository.commit({
    files: Object.fromEntries(
      ['ssh', 'https'].map((name) => [
        `${name}/manifests/cm.yaml`,
        stringifyJson(aConfigMap(`from-${name}`)),
      ]),
    ),
    annotatedTag: 'v1.0.0',
  });
  certificates = await generateCertificates();
  https = await startGitServer({ root, credentials: login, tls: certificates.server });
  ssh = await SSHServer.start({ root, hostKeys: ['ed25519', 'rsa'] });
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({ kubeconfig: plane.kubeconfig, registry: plane.registry });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl?.run(['delete', kind, '--all', '--wait=true', '--timeout=600s']);
  }
  await kubectl?.run(['delete', 'secret', 'git', 'wrong', `--namespace=${namespace}`]);
  await system?.stop();
  await ssh?.stop();
  await https?.close();
  await rm(root, { recursive: true, force: true });
});

async function applySecret(
  name: string,
  stringData: Readonly<Record<string, string>>,
): Promise<void> {
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  });
}

function aGitSource(fields: Partial<GitSource>) {
  const git = { repository: ssh.url('app'), ref: { tag: 'v1.0.0' }, ...fields };
  return { type: 'git', git: { ...git, auth: { secret: { name: 'git' } }, ...fields } };
}

async function installed(name: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
  expect(await kubectl.exists('configmap', `from-${name}`, 'default')).toBe(true);
  const [bundle] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
  const status = bundle?.['status'] as BundleStatus | undefined;
  expect(status?.resolvedSource?.git?.ref).toEqual({ commit });
}

test('over SSH, with an encrypted key and hashed known hosts', async () => {
  await applySecret('git', {
    'ssh-privatekey': await ssh.authorizedKey('-t', 'ed25519', '-N', 'open sesame'),
    passphrase: 'open sesame',
    'ssh-knownhosts': await ssh.knownHosts({ hashed: true }),
  });
  const source = aGitSource({ directory: 'ssh' });
  await kubectl.apply(aBundleDeployment({ name: 'ssh', source }));
  await installed('ssh');
});

test('over HTTPS, with a login and an authority of its own', async () => {
  await applySecret('git', { ...login, 'ca.crt': certificates.ca.cert });
  const source = aGitSource({ repository: `${https.url}/app`, directory: 'https' });
  await kubectl.apply(aBundleDeployment({ name: 'https', source }));
  await installed('https');
});

test('a wrong host key says so, until the Secret has the right one', async () => {
  const key = await ssh.authorizedKey('-t', 'rsa', '-N', '');
  const other = await SSHServer.start({ root });
  const wrong = (await other.knownHosts()).replace(`${other.port}`, `${ssh.port}`);
  await other.stop();
  await applySecret('wrong', { 'ssh-privatekey': key, 'ssh-knownhosts': wrong });
  const source = aGitSource({ directory: 'ssh', auth: { secret: { name: 'wrong' } } });
  await kubectl.apply(aBundle({ name: 'wrong', source }));
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundle', 'wrong'), 'Unpacked');
    expect(condition).toMatchObject({
      status: 'False',
      reason: 'UnpackFailed',
      message: expect.stringMatching(
        /^source bundle content: bundle unpack git clone error: ssh: handshake failed: ssh: host key mismatch for "\[127\.0\.0\.1\]:\d+": the host shows ssh-ed25519 key SHA256:/,
      ),
    });
  });
  await applySecret('wrong', {
    'ssh-privatekey': key,
    'ssh-knownhosts': await ssh.knownHosts(),
  });
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundle', 'wrong'), 'Unpacked');
    expect(condition?.status).toBe('True');
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { BundleDeploymentStatus, BundleStatus } from '../../api/v1alpha1/index.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { System } from '../helpers/system.ts';

/** Nobody listens there. */
const primary = '127.0.0.1:1';
// alice's password is "correct horse".
const htpasswd = 'alice:$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e\n';

let dir: string;
let registry: OwnRegistry;
let ca: string;
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-registry-'));
  const certificates = await generateCertificates();
  ca = certificates.ca.cert;
  registry = await OwnRegistry.start({ dir, htpasswd, tls: certificates.server });
  await push('private');
  await push('mirrored');
  const conf = `
    [[registry]]
    location = "${primary}/org"
    [[registry.mirror]]
    location = "127.0.0.1:2/org"
    [[registry.mirror]]
    location = "${registry.host}/org"

    [[registry]]
    location = "blocked.example"
    blocked = true
  `;
  await writeFile(join(dir, 'registries.conf'), conf);
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({
    kubeconfig: plane.kubeconfig,
    registry: plane.registry,
    flags: [`--registries-conf=${join(dir, 'registries.conf')}`],
  });
});

afterAll(async () => {
  await kubectl?.run(['delete', 'bundledeployments', '--all', '--wait=true', '--timeout=300s']);
  await kubectl?.run(['delete', 'secret', 'pull', '--namespace=rukpak-system']);
  await system?.stop();
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Through a second registry of the same images, which lets everybody push. */
async function push(name: string): Promise<void> {
  const open = await OwnRegistry.start({ dir });
  const files = { 'manifests/cm.yaml': stringifyJson(aConfigMap(name)) };
  try {
    const target = { registry: open.host, repository: `org/${name}`, tag: 'v1' };
    await pushImage({ ...target, layers: [{ files }] });
  } finally {
    await open.stop();
  }
}

async function applySecret(password: string): Promise<void> {
  const auths = { [`${registry.host}/org`]: { username: 'alice', password } };
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pull', namespace: 'rukpak-system' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }), 'ca.crt': ca },
  });
}

async function install(name: string, ref: string): Promise<void> {
  const image = { ref, pullSecret: 'pull' };
  await kubectl.apply(aBundleDeployment({ name, source: { type: 'image', image } }));
}

async function condition(name: string, type: string, expected: object): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, type)).toMatchObject(expected);
  });
}

const installed = { status: 'True', reason: 'InstallationSucceeded' };

test('content of a private registry with an authority of its own is installed', async () => {
  await applySecret('wrong');
  await install('private', `${registry.host}/org/private:v1`);
  await condition('private', 'HasValidBundle', {
    status: 'False',
    reason: 'UnpackFailed',
    message: expect.stringContaining(
      `registry ${registry.host} denies access to repository org/private with the pull secret (401 Unauthorized)`,
    ),
  });
  await applySecret('correct horse');
  await condition('private', 'Installed', installed);
  expect(await kubectl.exists('configmap', 'private', 'default')).toBe(true);
});

test('content of a registry out of reach is installed from a mirror, under its own name', async () => {
  await applySecret('correct horse');
  await install('mirrored', `${primary}/org/mirrored:v1`);
  await condition('mirrored', 'Installed', installed);
  const { activeBundle = '' } = (await kubectl.get('bundledeployment', 'mirrored'))[
    'status'
  ] as BundleDeploymentStatus;
  const { resolvedSource } = (await kubectl.get('bundle', activeBundle))['status'] as BundleStatus;
  expect(resolvedSource?.image?.ref).toMatch(
    new RegExp(`^${primary}/org/mirrored@sha256:[0-9a-f]{64}$`),
  );
  expect(resolvedSource?.image?.pullSecret).toBe('pull');
});

test('a blocked registry is told', async () => {
  await applySecret('correct horse');
  await install('blocked', 'blocked.example/app:v1');
  await condition('blocked', 'HasValidBundle', {
    status: 'False',
    reason: 'UnpackFailed',
    message: expect.stringContaining(
      'error fetching image descriptor: registry blocked.example is blocked by the registries configuration (--registries-conf)',
    ),
  });
});

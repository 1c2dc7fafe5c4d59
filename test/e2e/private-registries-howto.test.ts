// @module-tag long
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { eventually } from '../helpers/eventually.ts';
import { followHowto, type Howto } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles } from '../helpers/push-content.ts';
import { pushImage } from '../helpers/push-image.ts';

const { kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const root = join(import.meta.dirname, '../..');
const page = 'private-registries.md';
const shownHost = 'registry.example:5000';
const name = 'private-registries-howto';
const password = 'correct horse';
const htpasswd = 'robot:$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e\n';

let dir: string;
let registry: OwnRegistry;
let howto: Howto;
let system: InClusterSystem;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-private-registries-'));
  // The overlays of a release are those of the checkout, with another image.
  await mkdir(join(dir, 'release'));
  await symlink(join(root, 'deploy'), join(dir, 'release/kustomize'));
  const { ca, server } = await generateCertificates();
  registry = await OwnRegistry.start({ dir, htpasswd, tls: server });
  const overlay = join(dir, 'mine');
  await mkdir(overlay);
  await writeFile(join(overlay, 'ca.pem'), ca.cert);
  await writeFile(join(overlay, 'kustomization.yaml'), await shownKustomization());
  const files = {
    mine: overlay,
    [`--docker-server=${shownHost}`]: `--docker-server=${registry.host}`,
    '--docker-password=$PASSWORD': `--docker-password=${password}`,
  };
  howto = { page, kubectl, kubeconfig, files };
  system = await InClusterSystem.prepare({ kubectl, registry: plane.registry, overlay });
  await system.overlay.remove();
});

afterAll(async () => {
  await system?.remove();
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Of the page, for this registry. */
async function shownKustomization(): Promise<string> {
  const text = await readFile(join(root, 'docs/howto', page), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.find((block) => block.includes('kind: Kustomization\n')) ?? '';
  expect(found).toContain(`"${shownHost}/ca.crt"`);
  return found.replace(shownHost, registry.host);
}

/** Through a second registry of the same images, which lets everybody push. */
async function push(repository: string): Promise<string> {
  const open = await OwnRegistry.start({ dir });
  try {
    const layers = [{ files: plainFiles([aConfigMap(name)]) }];
    await pushImage({ registry: open.host, repository, tag: 'v1', layers });
  } finally {
    await open.stop();
  }
  return `${registry.host}/${repository}:v1`;
}

test('the page’s Secret and overlay are enough for a registry with a password and a CA of its own', async () => {
  expect(await followHowto(howto, 'Certificates')).toContain(
    'deployment "core" successfully rolled out',
  );
  await followHowto(howto, 'Credentials');
  await system.startWebhooks();
  await system.startCrdvalidator();
  await system.startCore();
  const image = { ref: await push('team/bundle'), pullSecret: 'pull' };
  await kubectl.apply(aBundleDeployment({ name, source: { type: 'image', image } }));
  await eventually(async () => {
    const installed = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(installed).toMatchObject({ status: 'True', reason: 'InstallationSucceeded' });
  });
});

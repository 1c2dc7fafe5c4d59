import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles } from '../helpers/push-content.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const name = `ctl-${randomUUID().slice(0, 6)}`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpakctl-'));
  await mkdir(join(folder, 'manifests'));
  await writeFile(join(folder, 'manifests/a.yaml'), 'kind: ConfigMap');
  await installCrds(plane.kubeconfig);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** No core runs here: what is applied stays as it is, and no Bundle is made. */
async function ctl(args: readonly string[], input = ''): Promise<CtlResult> {
  onTestFinished(async () => {
    await kubectl.deleteNamed('bundledeployment', [name], { ignoreNotFound: true });
  });
  return await rukpakctl([...args, '--timeout=100ms'], {
    input,
    env: { KUBECONFIG: plane.kubeconfig },
  });
}

/** Who applied an object's fields, as `manager operation`. */
async function managersOf(kind: string, ...place: readonly string[]): Promise<readonly string[]> {
  const shown = ['--show-managed-fields', '--output=json'];
  const text = await kubectl.must(['get', kind, name, ...place, ...shown]);
  const { metadata } = JSON.parse(text) as {
    metadata: { managedFields: readonly { manager: string; operation: string }[] };
  };
  return metadata.managedFields.map(({ manager, operation }) => `${manager} ${operation}`);
}

/** A content server that is not looked for in the cluster. */
const nowhere = '--server=https://127.0.0.1:1';

test('a run that fails leaves no deployment that was not there before', async () => {
  const { code, stderr } = await ctl(['run', name, folder, nowhere]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(
      `BundleDeployment "${name}" has made no Bundle in 0.1 s: .*; BundleDeployment "${name}", which was new, is deleted again`,
    ),
  );
  expect(await kubectl.exists('bundledeployment', name)).toBe(false);
});

test('a run that could not upload changes nothing', async () => {
  const { code, stdout, stderr } = await ctl(['run', name, folder]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('rukpakctl cannot verify the content server');
  expect(await kubectl.exists('bundledeployment', name)).toBe(false);
});

test('run applies the deployment as rukpakctl, over what others say', async () => {
  const source = { type: 'upload', upload: {} };
  await kubectl.apply(aBundleDeployment({ name, className: 'someone-elses', source }));
  const plain = '--bundle-provisioner-class=core-rukpak-io-plain';
  const { code, stdout } = await ctl(['run', name, folder, nowhere, plain]);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `bundledeployment.core.rukpak.io "${name}" applied\n`,
  });
  expect((await kubectl.get('bundledeployment', name))['spec']).toEqual({
    provisionerClassName: 'core-rukpak-io-plain',
    template: {
      metadata: { labels: { app: name, bundleDigest: expect.stringMatching(/^[0-9a-f]{1,16}$/) } },
      spec: { provisionerClassName: 'core-rukpak-io-plain', source },
    },
  });
  expect(await managersOf('bundledeployment')).toContain('rukpakctl Apply');
});

test('alpha bootstrap marks what it applies as Helm and RukPak do', async () => {
  const input = plainFiles([aConfigMap(name, { a: '1' })])['manifests/all.yaml'];
  const { code, stdout } = await ctl(['alpha', 'bootstrap', name], input);
  onTestFinished(async () => {
    await kubectl.deleteNamed('configmap', [name], { namespace: 'default', ignoreNotFound: true });
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const { metadata }: KubernetesObject = await kubectl.get('configmap', name, 'default');
  expect(metadata.labels).toEqual({
    'app.kubernetes.io/managed-by': 'Helm',
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': name,
  });
  expect(metadata.annotations).toEqual({
    'meta.helm.sh/release-name': name,
    'meta.helm.sh/release-namespace': 'rukpak-system',
  });
  expect(await managersOf('configmap', '--namespace=default')).toEqual(['rukpak-core Apply']);
});

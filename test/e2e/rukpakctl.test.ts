import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { BundleStatus } from '../../api/v1alpha1/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundle, aConfigMap } from '../helpers/objects.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

const namespace = 'rukpak-system';
/** As Go's log package begins its lines. */
const stamp = '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d ';

let kubectl: Kubectl;
let registry: string;
let folder: string;
let system: InClusterSystem;
let core: LocalPod;
let node: ForwardingNode;

beforeAll(async () => {
  registry = inject('registry');
  kubectl = new Kubectl({ path: inject('kubectl'), kubeconfig: inject('kubeconfig') });
  folder = await mkdtemp(join(tmpdir(), 'rukpakctl-e2e-'));
  system = await InClusterSystem.install({ kubectl, registry });
  await system.startWebhooks();
  core = await system.startCore();
  node = await ForwardingNode.start({
    kubectl,
    kubeconfig: inject('kubeconfig'),
    clusterDir: inject('clusterDir'),
    name: 'rukpakctl',
    forwards: { 8443: core.ports[1] ?? 0 },
  });
  await node.take(namespace, 'core');
});

afterAll(async () => {
  await node?.remove();
  await system?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function ctl(args: readonly string[], input = ''): Promise<CtlResult> {
  return await rukpakctl(args, { input, env: { KUBECONFIG: inject('kubeconfig') } });
}

async function unpacked(name: string): Promise<BundleStatus> {
  return await eventually(async () => {
    const bundle = await kubectl.get('bundle', name);
    const status = (bundle['status'] ?? {}) as BundleStatus;
    if (status.phase !== 'Unpacked') throw new Error(JSON.stringify(status));
    return status;
  });
}

describe('rukpakctl content', () => {
  test('lists what is stored, and leaves nothing behind', async () => {
    const files = plainFiles([aConfigMap('ctl-content')]);
    const source = await pushContent({ registry, name: 'ctl-content', version: 1, files });
    await kubectl.apply(aBundle({ name: 'ctl-content', source }));
    await unpacked('ctl-content');
    const { size } = { size: files['manifests/all.yaml']?.length ?? 0 };
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
    await eventually(async () => {
      const left = await kubectl.must(['get', 'clusterrolebindings,serviceaccounts', '-A', '-oname']);
      expect(left).not.toContain('rukpakctl-');
    });
    await kubectl.must(['delete', 'bundle', 'ctl-content']);
  });

  test('says that there is no such Bundle', async () => {
    const { code, stdout, stderr } = await ctl(['content', 'badname']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const text = 'content command failed: bundles.core.rukpak.io "badname" not found';
    expect(stderr).toMatch(new RegExp(`^${stamp}${text}\n$`));
  });

  test('says that a Bundle has no content yet', async () => {
    const source = { type: 'upload', upload: {} };
    await kubectl.apply(aBundle({ name: 'ctl-empty', className: 'nobody', source }));
    const { code, stderr } = await ctl(['content', 'ctl-empty']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^${stamp}content command failed: error: url is not available\n$`),
    );
    await kubectl.must(['delete', 'bundle', 'ctl-empty']);
  });
});

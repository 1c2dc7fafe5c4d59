import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { operatorFiles } from '../helpers/operator-bundle.ts';
import { plane } from '../helpers/plane.ts';
import { pushContent } from '../helpers/push-content.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';
import { writeKubeconfig } from '../helpers/service-account.ts';
import { System } from '../helpers/system.ts';
import { webhookOperatorFiles } from '../helpers/webhook-operator/bundle.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const className = 'core-rukpak-io-registry';
const namespaces = ['ctl-shop', 'ctl-ops'];

/** With a token: it is what the content server of a process outside of the cluster can be shown. */
const runner = { namespace: 'ctl-ops', name: 'ctl-runner' };

let folder: string;
let system: System;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpakctl-operators-'));
  system = await System.start({ kubeconfig, registry });
  const aNamespace = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
  await kubectl.apply(...namespaces.map(aNamespace));
  const { namespace, name } = runner;
  await kubectl.must(['create', 'serviceaccount', name, '--namespace', namespace]);
  const role = ['--clusterrole=cluster-admin', `--serviceaccount=${namespace}:${name}`];
  await kubectl.must(['create', 'clusterrolebinding', name, ...role]);
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteNamed('clusterrolebinding', [runner.name], { ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  await system?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: kubeconfig } });
}

async function aFile(path: string, content: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

async function aDirectory(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, content] of Object.entries(files)) await aFile(join(name, path), content);
  return join(folder, name);
}

async function untilInstalled(name: string, status = 'True'): Promise<KubernetesObject> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status });
    return deployment;
  });
}

describe('an operator with webhooks', () => {
  const name = 'ctl-hooks';
  const files = webhookOperatorFiles({ name, parts: ['validating', 'conversion'] });

  test('differs in nothing from what was installed, its certificate among it', async () => {
    const source = await pushContent({ registry, name, version: 1, files });
    await kubectl.apply(aBundleDeployment({ name, className, source }));
    await untilInstalled(name);
    const directory = await aDirectory('hooks', files);
    await eventually(async () => {
      expect(await ctl('diff', directory, name)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^0 created, 0 changed, 0 pruned, \d+ unchanged\n$/),
      });
    });
  });

  test('needs the permission to have its certificate, whether asked by name or content', async () => {
    const account = '--service-account=ctl-shop/installer';
    const server = `--server=${system.contentAddress}`;
    const byName = await ctl('permissions', name, account, server);
    const byContent = await ctl('permissions', join(folder, 'hooks'), account);
    for (const { code, stdout } of [byName, byContent]) {
      expect(code).toBe(0);
      expect(stdout).toContain(`${name}-service-cert`);
    }
    const elsewhere = ['--certificates=cert-manager', account];
    const { stdout } = await ctl('permissions', join(folder, 'hooks'), ...elsewhere);
    expect(stdout).toMatch(/cert-manager\.io\n.*\n {2}- certificates\n/s);
  });
});

describe('an operator of some namespaces', () => {
  const name = 'ctl-some';
  const files = operatorFiles({ name, modes: ['OwnNamespace', 'SingleNamespace'] });

  test('is installed by a config, and status says so before', async () => {
    const directory = await aDirectory('some', files);
    const flags = [
      `--server=${system.contentAddress}`,
      `--bundle-provisioner-class=${className}`,
      `--kubeconfig=${await writeKubeconfig(kubectl, runner, folder)}`,
    ];
    expect(await ctl('run', name, directory, ...flags)).toMatchObject({ code: 0 });
    await eventually(async () => {
      expect((await ctl('status', name)).stdout).toContain(
        `name one in spec.config.watchNamespace of BundleDeployment "${name}"`,
      );
    });
    const config = await aFile(
      'config.yaml',
      'installNamespace: ctl-ops\nwatchNamespace: ctl-shop\n',
    );
    const second = await ctl('run', name, directory, ...flags, `--config=${config}`);
    expect(second).toMatchObject({ code: 0 });
    await untilInstalled(name);
    expect(await kubectl.get('deployment', name, 'ctl-ops')).toMatchObject({
      spec: { template: { metadata: { annotations: { 'olm.targetNamespaces': 'ctl-shop' } } } },
    });
    expect(await ctl('run', name, directory, ...flags)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('keeps installNamespace, watchNamespace of spec.config'),
    });
    expect(await ctl('run', name, directory, ...flags, '--config={}')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('would remove it and so move the operator: pass -n ctl-ops'),
    });
    expect(await kubectl.get('bundledeployment', name)).toMatchObject({
      spec: { config: { installNamespace: 'ctl-ops', watchNamespace: 'ctl-shop' } },
    });
  });

  test('differs where another config is tried', async () => {
    const directory = join(folder, 'some');
    await eventually(async () => {
      expect(await ctl('diff', directory, name)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('0 created, 0 changed, 0 pruned'),
      });
    });
    const other = await aFile('other.yaml', 'installNamespace: ctl-ops\nwatchNamespace: ctl-ops\n');
    const { code, stdout } = await ctl('diff', directory, name, `--config=${other}`);
    expect(code).toBe(1);
    expect(stdout).toContain('-        olm.targetNamespaces: ctl-shop\n');
    const wrong = await aFile('wrong.yaml', 'watchNamespaces: [a, b]\n');
    expect(await ctl('diff', directory, name, `--config=${wrong}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('do not support target namespaces [a b]'),
    });
  });

  test('needs Roles in the namespaces that it watches', async () => {
    const account = '--service-account=ctl-shop/installer';
    const { code, stdout } = await ctl(
      'permissions',
      name,
      account,
      `--server=${system.contentAddress}`,
    );
    expect(code).toBe(0);
    for (const namespace of namespaces) expect(stdout).toContain(`\n  namespace: ${namespace}\n`);
  });
});

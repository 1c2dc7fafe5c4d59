// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const name = 'removed-class';
const className = 'removed';
const finalizers = ['example.com/hold'];

const removedClass = `
import { defineProvisioner } from 'rukpak-ts/sdk';

export default defineProvisioner({
  className: '${className}',
  bundle: async (files) => files,
  deployment: async () => [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '${name}', namespace: 'default', finalizers: ${JSON.stringify(finalizers)} } },
  ],
});
`;

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
let system: System;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'removed-class-'));
  await writeFile(join(folder, 'class.ts'), removedClass);
  const flags = [`--provisioner=${join(folder, 'class.ts')}`];
  system = await System.start({ kubeconfig, registry, flags });
});

afterAll(async () => {
  await system?.stop();
  await rm(folder, { recursive: true });
});

async function waiting(): Promise<string> {
  const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Progressing');
  return condition?.message ?? '';
}

test('a deletion that waits when its class is removed continues without it', async () => {
  const files = plainFiles([aConfigMap(name)]);
  const source = await pushContent({ registry, name, version: 1, files });
  const template = { spec: { provisionerClassName: className, source } };
  await kubectl.apply({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: { provisionerClassName: className, template },
  });
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
  });
  await kubectl.deleteNamed('bundledeployment', [name], { wait: false });
  const held = `Waiting for ConfigMap/default/${name} to be deleted`;
  await eventually(async () => expect(await waiting()).toMatch(new RegExp(`^${held}`)));
  await system.terminate();
  await system.restart([]);
  const unserved = `no process serves class "${className}": `;
  await eventually(async () => expect(await waiting()).toContain(unserved + held), patiently);
  const patch = JSON.stringify({ metadata: { finalizers: null } });
  await kubectl.must(['patch', 'configmap', name, '-n', 'default', '--type=merge', '-p', patch]);
  await eventually(async () => {
    expect(await kubectl.exists('bundledeployment', name)).toBe(false);
    expect(await kubectl.list('bundles')).toEqual([]);
  }, patiently);
});

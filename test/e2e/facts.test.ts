import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { bringOutPlain } from '../helpers/bring-out.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const systemNamespace = 'rukpak-system';
const other = 'facts-elsewhere';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } });
});

afterEach(async () => {
  await kubectl.must(['delete', 'bundledeployments', '--all', '--timeout=300s']);
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => {
  await kubectl.run(['delete', 'namespace', other, '--wait=false']);
  await system.stop();
});

async function live(name: string): Promise<BundleDeployment> {
  return (await kubectl.get('bundledeployment', name)) as BundleDeployment;
}

/** Waits until the present spec is installed. */
async function isInstalled(name: string): Promise<BundleDeployment> {
  return await eventually(async () => {
    const deployment = await live(name);
    expect(deployment.status?.observedGeneration).toBe(deployment.metadata.generation);
    expect(conditionOf(deployment, 'Installed')?.status).toBe('True');
    return deployment;
  });
}

async function says(name: string, reason: string): Promise<Condition> {
  return await eventually(async () => {
    const condition = conditionOf(await live(name), 'Progressing');
    expect(condition?.reason).toBe(reason);
    return condition as Condition;
  });
}

async function restartIn(namespace: string): Promise<void> {
  await system.terminate();
  await system.restart([`--system-namespace=${namespace}`]);
}

describe('the namespace of objects that name none', () => {
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'facts-place' } };

  async function bringOut(version: number, spec: object = {}): Promise<void> {
    const objects = [{ ...settings, data: { version: String(version) } }];
    await bringOutPlain(
      { kubectl, registry, prefix: 'facts' },
      { name: 'place', version, objects, spec },
    );
  }

  test('stays the one of the first installation, whatever the system namespace is by now', async () => {
    await bringOut(1);
    const { status } = await isInstalled('place');
    expect(status?.installNamespace).toBe(systemNamespace);
    const before = await kubectl.get('configmap', 'facts-place', systemNamespace);
    await restartIn(other);
    try {
      await bringOut(2);
      await eventually(async () => {
        const after = await kubectl.get('configmap', 'facts-place', systemNamespace);
        expect(after['data']).toEqual({ version: '2' });
        expect(after.metadata.uid).toBe(before.metadata.uid);
      });
      expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(false);
    } finally {
      await restartIn(systemNamespace);
    }
  });

  test('is the one that the spec asks for first, and another one moves nothing', async () => {
    await bringOut(1, { installNamespace: other });
    await isInstalled('place');
    expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(true);
    await bringOut(2, { installNamespace: 'default' });
    const { message } = await says('place', 'InstallNamespaceChanged');
    expect(message).toContain(`set spec.installNamespace to "${other}"`);
    expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(true);
    expect(await kubectl.exists('configmap', 'facts-place', 'default')).toBe(false);
    await bringOut(2, { installNamespace: other });
    await isInstalled('place');
    const { data } = (await kubectl.get('configmap', 'facts-place', other)) as { data?: unknown };
    expect(data).toEqual({ version: '2' });
  });
});

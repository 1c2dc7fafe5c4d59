// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
const account = 'system:serviceaccount:rukpak-system:rukpak-operators';
const permissions = 'rukpak-operators-dependencies';

let system: InClusterSystem;

beforeAll(async () => {
  const value = { packageName: 'brush', versionRange: '>=1.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  const ref = await pushTestCatalog(
    { registry, prefix: 'e2e/', catalog: 'olm1-dependencies-account/catalog:v1' },
    [
      { name: 'canvas', versions: ['1.0.0'], properties },
      { name: 'easel', versions: ['1.0.0'], properties },
      { name: 'brush', versions: ['1.0.0'] },
    ],
  );
  const overlay = 'operators-with-dependencies';
  system = await InClusterSystem.install({ kubectl, registry, overlay, inProcess: true });
  await system.startWebhooks();
  await system.startCore();
  await system.startOperators();
  await kubectl.apply({
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'dependencies-account' },
    spec: { source: { type: 'image', image: { ref } } },
  });
});

afterAll(async () => {
  await kubectl.deleteAll(operators, { wait: false, ignoreNotFound: true });
  await eventually(
    async () => expect(await kubectl.list('bundledeployments')).toEqual([]),
    patiently,
  );
  await kubectl.deleteAll('catalogs', { ignoreNotFound: true });
  await system?.remove();
});

async function request(name: string): Promise<void> {
  await kubectl.apply({
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: 'Operator',
    metadata: { name },
    spec: { packageName: name },
  });
}

async function ready(name: string): Promise<void> {
  await eventually(async () => {
    const operator = await kubectl.get(operators, name);
    expect(conditionOf(operator, 'Ready')).toMatchObject({ status: 'True' });
  });
}

async function owners(name: string): Promise<readonly string[]> {
  const { metadata } = await kubectl.get(operators, name);
  return (metadata.ownerReferences ?? []).map((each) => each.name);
}

test('its ServiceAccount may create and delete Operators, and delete nothing else', async () => {
  const canI = async (verb: string, kind: string) =>
    (await kubectl.run(['auth', 'can-i', verb, kind, `--as=${account}`])).stdout.trim();
  expect([await canI('create', operators), await canI('delete', operators)]).toEqual([
    'yes',
    'yes',
  ]);
  expect(await canI('delete', 'bundledeployments')).toBe('no');
});

test('without these permissions, the condition names them and their cure; granted, it continues', async () => {
  await kubectl.deleteNamed('clusterrolebinding', [permissions]);
  await request('canvas');
  await eventually(async () => {
    const canvas = await kubectl.get(operators, 'canvas');
    expect(conditionOf(canvas, 'DependenciesSatisfied')).toMatchObject({
      status: 'False',
      reason: 'DependencyMissing',
      message: `bundle "canvas.v1.0.0" requires package "brush" in version range ">=1.0.0": Operator "brush" was not created: user "${account}" lacks permission to create ${operators}. Component install-dependencies of deploy/ grants it (of the chart: operators.installDependencies=true).`,
    });
    expect(conditionOf(canvas, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'WaitingForDependencies',
    });
  });
  const { code, stdout } = await rukpakctl(['verify'], { env: { KUBECONFIG: kubeconfig } });
  expect(code).toBe(1);
  expect(stdout).toContain(
    `failed   ServiceAccount rukpak-system/rukpak-operators, --install-dependencies: may not create ${operators}, delete ${operators}; `,
  );
  expect(await kubectl.exists('bundledeployment', 'canvas')).toBe(false);
  await kubectl.apply(system.overlay.object('ClusterRoleBinding', permissions));
  await ready('canvas');
  await ready('brush');
  expect(await owners('brush')).toEqual(['canvas']);
});

test('what was made goes with the last Operator that requires it', async () => {
  await request('easel');
  await ready('easel');
  await eventually(async () => expect(await owners('brush')).toEqual(['canvas', 'easel']));
  await kubectl.deleteNamed(operators, ['canvas']);
  await eventually(async () => expect(await owners('brush')).toEqual(['easel']), patiently);
  await kubectl.deleteNamed(operators, ['easel']);
  await eventually(async () => {
    expect(await kubectl.exists(operators, 'brush')).toBe(false);
    expect(await kubectl.exists('bundledeployment', 'brush')).toBe(false);
  }, patiently);
});

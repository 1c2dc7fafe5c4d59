import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { RukpakInProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const crds = ['bundles.core.rukpak.io', 'bundledeployments.core.rukpak.io'];

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterAll(async () => {
  // Their kinds are gone by now, unless something has failed.
  await kubectl.deleteAll('bundledeployments,bundles', { ignoreNotFound: true });
  await system.stop();
  await kubectl.deleteAll('configmaps', { namespace: 'default', ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', ['crdvalidator-system'], { ignoreNotFound: true });
  // It has no seed in it, which charts of the next test file would need.
  await kubectl.deleteNamed('secret', ['rukpak-seed'], {
    namespace: 'rukpak-system',
    ignoreNotFound: true,
  });
});

/** One of a deployment that removes its objects itself. */
async function isInstalled(name: string): Promise<string> {
  const spec = { stages: { waitForReady: true } };
  const place = { kubectl, registry, prefix: 'uninstall' };
  await rollOutPlain(place, { name, objects: [aConfigMap(name)], spec });
  await isHealthy(name);
  return await uidOf(name);
}

async function isHealthy(name: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')?.status).toBe('True');
    expect(deployment.metadata.finalizers).toContain('core.rukpak.io/delete-objects');
  });
}

async function uidOf(configMap: string): Promise<string> {
  return (await kubectl.get('configmap', configMap, 'default')).metadata.uid ?? '';
}

async function rukpak(...args: readonly string[]): Promise<string> {
  const run = new RukpakInProcess(args, kubeconfig);
  await run.ended;
  expect(run.exitCode, run.log).toBe(0);
  return run.log;
}

async function areThere(): Promise<void> {
  for (const crd of crds) {
    expect((await kubectl.get('crd', crd)).metadata).not.toHaveProperty('deletionTimestamp');
  }
}

test('our CRDs and the system namespace are not deleted while there are deployments', async () => {
  await isInstalled('guarded');
  const wayOut = 'To remove RukPak and keep everything, run "rukpak uninstall"';
  const refusals = [
    ['crd', ...crds],
    // Of a collection, whose request has no name.
    ['--raw', `${crdPath}?fieldSelector=metadata.name%3D${crds[0]}`],
    ['namespace', 'rukpak-system'],
  ].map(async (what) => {
    const { code, stderr } = await kubectl.run(['delete', ...what]);
    expect(code).toBe(1);
    expect(stderr).toContain('": 1 BundleDeployment exists, and ');
    expect(stderr).toContain(wayOut);
  });
  await Promise.all(refusals);
  await areThere();
  const { status } = await kubectl.get('namespace', 'rukpak-system');
  expect(status).toMatchObject({ phase: 'Active' });
  await kubectl.deleteAll('bundledeployments,bundles');
  await kubectl.must(['delete', 'crd', ...crds, '--dry-run=server']);
});

test('an uninstallation keeps what is installed, and the next installation takes it up', async () => {
  const uid = await isInstalled('kept');
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'rukpak-seed' } };
  await kubectl.must(['apply', '--namespace=rukpak-system', '-f', '-'], JSON.stringify(secret));
  const dry = await rukpak('uninstall', '--dry-run');
  expect(dry).toContain('clusterrole.rbac.authorization.k8s.io/core-admin deleted (dry run)');
  await system.terminate();
  const printed = await rukpak('uninstall');
  expect(printed.replaceAll(' deleted\n', ' deleted (dry run)\n')).toBe(dry);
  for (const line of [
    'validatingwebhookconfiguration.admissionregistration.k8s.io/rukpak-validating-webhook-configuration deleted',
    'customresourcedefinition.apiextensions.k8s.io/bundledeployments.core.rukpak.io kept',
    '1 BundleDeployment kept',
    '1 Bundle kept',
    'namespace/rukpak-system kept, with its Secrets, "rukpak-seed" and uploads among them',
  ]) {
    expect(printed.split('\n')).toContain(line);
  }
  expect(await kubectl.exists('clusterrole', 'core-admin')).toBe(false);
  expect(await kubectl.exists('secret', 'rukpak-seed', 'rukpak-system')).toBe(true);
  await areThere();
  expect(await uidOf('kept')).toBe(uid);
  await kubectl.must(['delete', 'bundledeployment', 'kept', '--dry-run=server']);
  await system.stop();
  system = await System.start({ kubeconfig, registry });
  await kubectl.deleteNamed('configmap', ['kept'], { namespace: 'default' });
  await eventually(async () => expect(await uidOf('kept')).not.toBe(uid));
  await isHealthy('kept');
});

test('core orphans everything where nothing guards our CRD, and it is deleted', async () => {
  const uid = await uidOf('kept');
  const guard = 'rukpak-validating-webhook-configuration';
  await kubectl.deleteNamed('validatingwebhookconfiguration', [guard]);
  await eventually(async () => {
    await kubectl.must(['delete', 'crd', crds[1] ?? '', '--wait=false']);
  });
  await eventually(async () => {
    expect(await kubectl.exists('crd', crds[1] ?? '')).toBe(false);
  }, patiently);
  const { metadata } = await kubectl.get('configmap', 'kept', 'default');
  expect(metadata.uid).toBe(uid);
  // With its mark: a deployment of that name, as of a backup, takes it over.
  expect(metadata.annotations).toHaveProperty(['core.rukpak.io/tracking-id']);
  const events = await kubectl.list('events');
  expect(events.map(({ message }) => message)).toContain(
    `CRD ${crds[1]} is being deleted, so core leaves all objects of this BundleDeployment unchanged. To manage them again, restore the CRD and the BundleDeployment`,
  );
});

test('with --delete-workloads everything goes but the namespaces', async () => {
  await system.stop();
  system = await System.start({ kubeconfig, registry });
  await isInstalled('gone');
  await system.terminate();
  const run = new RukpakInProcess(['uninstall', '--delete-workloads', '--timeout=1s'], kubeconfig);
  await run.ended;
  expect(run.exitCode).toBe(1);
  expect(run.log).toContain(
    'BundleDeployment "gone" exists after 1 s, and nothing else is deleted: core must run to delete it',
  );
  expect(await kubectl.exists('clusterrole', 'core-admin')).toBe(true);
  await system.restart();
  const printed = await rukpak('uninstall', '--delete-workloads');
  expect(printed).toMatch(/^clusterrole.*core-admin deleted$/m);
  expect(await kubectl.exists('configmap', 'gone', 'default')).toBe(false);
  for (const crd of crds) expect(await kubectl.exists('crd', crd)).toBe(false);
  expect(await kubectl.exists('secret', 'rukpak-seed', 'rukpak-system')).toBe(true);
});

test('and so does what classes have left that no process serves', { tags: 'long' }, async () => {
  await system.stop();
  system = await System.start({ kubeconfig, registry });
  const spec = { provisionerClassName: 'e2e-gone', source: { type: 'image', image: { ref: 'x' } } };
  const template = { spec };
  const ofGone = (kind: string, finalizer: string, body: object) => ({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind,
    metadata: { name: 'of-gone-class', finalizers: [`core.rukpak.io/${finalizer}`] },
    spec: body,
  });
  await kubectl.apply(
    ofGone('Bundle', 'delete-cached-bundle', spec),
    ofGone('BundleDeployment', 'delete-objects', { provisionerClassName: 'e2e-gone', template }),
  );
  await rukpak('uninstall', '--delete-workloads');
  for (const crd of crds) expect(await kubectl.exists('crd', crd)).toBe(false);
});

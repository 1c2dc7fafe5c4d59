import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageBlobs } from '../helpers/catalog-reconciler-fixture.ts';
import { eventually } from '../helpers/eventually.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { RukpakInProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const ref = `${registry}/operators-in-all/catalog:v1`;
const catalog = {
  apiVersion: 'catalogd.operatorframework.io/v1alpha1',
  kind: 'Catalog',
  metadata: { name: 'in-all' },
  spec: { source: { type: 'image', image: { ref } } },
};
const definition = 'catalogs.catalogd.operatorframework.io';

let system: System;

beforeAll(async () => {
  await pushCatalog(ref, { 'shop.json': packageBlobs('shop') });
  system = await System.start({ kubeconfig, registry });
});

afterAll(async () => {
  if (await kubectl.exists('crd', definition)) await kubectl.delete([catalog]);
  await removeOperatorCrds(kubeconfig);
  await system.stop();
  await kubectl.deleteNamed('namespace', ['crdvalidator-system'], { ignoreNotFound: true });
});

async function rukpak(...args: readonly string[]): Promise<RukpakInProcess> {
  const run = new RukpakInProcess(args, kubeconfig);
  await run.ended;
  return run;
}

async function isUnpacked(): Promise<void> {
  await eventually(async () => {
    const { status, ...object } = await kubectl.get('catalog', 'in-all');
    expect(conditionOf({ ...object, status }, 'Unpacked')?.status).toBe('True');
    const contentURL = `${system.catalogsAddress}/catalogs/in-all/all.json`;
    expect(status).toMatchObject({ contentURL });
    const answer = await fetch(contentURL);
    expect([answer.status, (await answer.text()).split('\n').length]).toEqual([200, 4]);
  });
}

test('nothing serves catalogs where their kinds are not', async () => {
  expect(await kubectl.exists('crd', definition)).toBe(false);
  await expect(fetch(system.catalogsAddress)).rejects.toThrow('fetch failed');
  expect(system.log).not.toContain('the kinds of operators are served');
});

test('their kinds may come later: the process that runs begins with them', async () => {
  const installed = await rukpak(
    'install',
    '--operators',
    `--webhook-url=${system.webhookAddress}`,
  );
  expect(installed.exitCode, installed.log).toBe(0);
  await kubectl.apply(catalog);
  await isUnpacked();
});

test('an uninstallation keeps the kinds and their objects, and the next one begins with them', async () => {
  await system.terminate();
  const { log } = await rukpak('uninstall');
  for (const line of [
    `customresourcedefinition.apiextensions.k8s.io/${definition} kept`,
    'clusterrole.rbac.authorization.k8s.io/rukpak-operators deleted',
    '1 Catalog kept',
  ]) {
    expect(log.split('\n')).toContain(line);
  }
  const again = await rukpak('install', `--webhook-url=${system.webhookAddress}`);
  expect(again.exitCode, again.log).toBe(0);
  await system.restart();
  await isUnpacked();
});

test('with --delete-workloads, catalogs go while the process runs, and CRDs of others stay', async () => {
  const theirs = 'clusterextensions.olm.operatorframework.io';
  await kubectl.must(['label', 'crd', theirs, 'app.kubernetes.io/part-of-']);
  const { log, exitCode } = await rukpak('uninstall', '--delete-workloads');
  expect(exitCode, log).toBe(0);
  const lines = log.split('\n');
  expect(lines).toContain('catalog.catalogd.operatorframework.io/in-all deleted');
  expect(lines).toContain(`customresourcedefinition.apiextensions.k8s.io/${definition} deleted`);
  expect(await kubectl.exists('crd', definition)).toBe(false);
  expect(await kubectl.exists('crd', theirs)).toBe(true);
});

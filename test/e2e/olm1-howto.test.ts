// @module-tag long
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followHowto } from '../helpers/howto.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { pushTestCatalog, testBundleFiles } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
const printer = {
  name: 'printer',
  versions: ['1.0.0', '1.1.0', '2.0.0'],
  channels: { stable: ['1.0.0', '1.1.0'], fast: ['1.1.0', '2.0.0'] },
  deprecated: { '1.0.0': 'use 1.1.0 or later' },
  kind: 'Print',
};
const painter = {
  name: 'painter',
  versions: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'],
  channels: { stable: ['1.0.0', '1.1.0', '2.0.0'], fast: ['1.1.0', '1.2.0'] },
  kind: 'Paint',
};
let system: System;
let dir: string;
let ref: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-olm1-howto-'));
  const place = { registry, prefix: 'e2e/', catalog: 'olm1/catalogs/howto:v1' };
  ref = await pushTestCatalog(place, [painter, printer]);
  system = await System.start({ kubeconfig, registry, installFlags: ['--operators'] });
});

afterAll(async () => {
  await kubectl.deleteAll(`${operators},clusterextensions`, { wait: false, ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs,clustercatalogs', { ignoreNotFound: true });
  await system?.stop();
  await removeOperatorCrds(kubeconfig);
  await rm(dir, { recursive: true, force: true });
});

async function written(name: string, object: object): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, JSON.stringify(object));
  return file;
}

test('from a package name to a running operator, and back', async () => {
  const files = {
    'catalog.yaml': await written('catalog.yaml', {
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name: 'community' },
      spec: { source: { type: 'image', image: { ref, pollInterval: '1h' } } },
    }),
    'operator.yaml': await written('operator.yaml', {
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata: { name: 'painter' },
      spec: { packageName: 'painter', version: '1.0.0' },
    }),
  };
  const howto = { page: 'olm1.md', kubectl, kubeconfig, files };
  const output = await followHowto(howto, 'Install an operator by the name of its package');
  expect(output).toMatch(/community +Unpacked .* 2 +True +Serving/);
  expect(output).toMatch(/painter +\S+ +1\.0\.0 +2\.0\.0 +True +Healthy/);
  expect(output).toContain('(bundle "painter.v1.2.0" stays installed)');
  await kubectl.deleteNamed('catalog', ['community']);
  expect(await kubectl.exists('bundledeployment', 'painter')).toBe(false);
});

test('with a ClusterCatalog, a namespace and a ServiceAccount', async () => {
  const bundle = testBundleFiles({ registry, prefix: 'e2e/' }, printer, '1.0.0');
  for (const [path, content] of Object.entries(bundle)) {
    await mkdir(dirname(join(dir, 'printer', path)), { recursive: true });
    await writeFile(join(dir, 'printer', path), content);
  }
  const files = {
    'quay.io/community/printer:v1.0.0': join(dir, 'printer'),
    'clustercatalog.yaml': await written('clustercatalog.yaml', {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterCatalog',
      metadata: { name: 'community' },
      spec: { source: { type: 'Image', image: { ref, pollIntervalMinutes: 60 } } },
    }),
    'clusterextension.yaml': await written('clusterextension.yaml', {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterExtension',
      metadata: { name: 'printer' },
      spec: {
        namespace: 'printers',
        serviceAccount: { name: 'installer' },
        source: {
          sourceType: 'Catalog',
          catalog: { packageName: 'printer', version: '1.0.0' },
        },
      },
    }),
  };
  const howto = { page: 'olm1.md', kubectl, kubeconfig, files };
  const heading = 'Install an operator with the permissions of a ServiceAccount';
  const output = await followHowto(howto, heading);
  expect(output).toContain('ServiceAccount "installer" in namespace "printers" lacks permissions');
  expect(output).toMatch(/printer +printer\.v1\.0\.0 +1\.0\.0 +True +True .* True +Healthy/);
  expect(output).toContain('use 1.1.0 or later');
  expect(output).toContain('error upgrading from currently installed version "2.0.0"');
  await kubectl.deleteNamed('clustercatalog', ['community']);
  const granted = 'rukpak:printers:installer:printer';
  await kubectl.deleteNamed('clusterrole,clusterrolebinding', [granted]);
});

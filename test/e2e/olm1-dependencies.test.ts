// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
const mark = 'core.rukpak.io/dependency';

let system: System;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-dependencies-'));
  const [port] = await workerPorts(1);
  const content = [
    `--catalogs-server-addr=127.0.0.1:${port}`,
    `--cache-dir=${join(dir, 'content')}`,
  ];
  system = await System.start({
    kubeconfig,
    registry,
    installFlags: ['--operators'],
    flags: ['--install-dependencies', ...content],
  });
  const value = { packageName: 'easel', versionRange: '>=1.0.0 <2.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  const ref = await pushTestCatalog(
    { registry, prefix: 'e2e/', catalog: 'olm1-dependencies/catalog:v1' },
    [
      { name: 'gallery', versions: ['1.0.0'], properties },
      { name: 'museum', versions: ['1.0.0'], properties },
      { name: 'easel', versions: ['1.0.0', '1.1.0', '2.0.0'] },
    ],
  );
  await kubectl.apply({
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'community' },
    spec: { source: { type: 'image', image: { ref } } },
  });
  await eventually(async () => {
    const catalog = await kubectl.get('catalog', 'community');
    expect(conditionOf(catalog, 'Unpacked')).toMatchObject({ status: 'True' });
  });
});

afterAll(async () => {
  await kubectl.deleteAll(operators, { wait: false, ignoreNotFound: true });
  await eventually(
    async () => expect(await kubectl.list('bundledeployments')).toEqual([]),
    patiently,
  );
  await kubectl.deleteAll('catalogs');
  await system.stop();
  await removeOperatorCrds(kubeconfig);
  await rm(dir, { recursive: true, force: true });
});

function operator(name: string): object {
  return {
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: 'Operator',
    metadata: { name },
    spec: { packageName: name },
  };
}

async function ready(name: string): Promise<void> {
  await eventually(async () => {
    expect(conditionOf(await kubectl.get(operators, name), 'Ready')).toMatchObject({
      status: 'True',
    });
  });
}

test('the howto: what an Operator requires is installed, and goes with the last one that requires it', async () => {
  const file = join(dir, 'gallery.yaml');
  await writeFile(file, JSON.stringify(operator('gallery')));
  const howto = { page: 'olm1.md', kubectl, kubeconfig, files: { 'gallery.yaml': file } };
  const output = await followHowto(howto, 'Dependencies');
  expect(output).toMatch(/easel +\S+ +1\.1\.0 +2\.0\.0 +True +Healthy/);
  expect(output).toContain(
    'bundle "gallery.v1.0.0" requires package "easel" in version range ">=1.0.0 <2.0.0" (of Operator "easel")',
  );
  await eventually(async () => {
    expect(await kubectl.exists('bundledeployment', 'easel')).toBe(false);
  }, patiently);
});

test('the garbage collector waits for the last one, and a user can take an Operator over', async () => {
  await kubectl.apply(operator('gallery'), operator('museum'));
  await ready('gallery');
  await ready('museum');
  const owners = async () =>
    (await kubectl.get(operators, 'easel')).metadata.ownerReferences?.map(({ name }) => name) ?? [];
  await eventually(async () => expect(await owners()).toEqual(['gallery', 'museum']));
  await kubectl.deleteNamed(operators, ['museum']);
  // The garbage collector or the controller, whoever is first.
  await eventually(async () => expect(await owners()).toEqual(['gallery']), patiently);
  const patch = JSON.stringify({ spec: { version: '1.0.0', upgradeConstraintPolicy: 'Ignore' } });
  await kubectl.must(['patch', operators, 'easel', '--type=merge', `--patch=${patch}`]);
  await eventually(async () => {
    const { metadata } = await kubectl.get(operators, 'easel');
    expect([metadata.labels?.[mark], metadata.ownerReferences ?? []]).toEqual([undefined, []]);
  });
  await kubectl.deleteNamed(operators, ['gallery']);
  await eventually(async () => {
    const easel = await kubectl.get(operators, 'easel');
    expect(easel['status']).toMatchObject({ installed: { version: '1.0.0' } });
    expect(await kubectl.exists('bundledeployment', 'gallery')).toBe(false);
  }, patiently);
  await kubectl.deleteNamed(operators, ['easel']);
});

test('nothing is deleted when the catalog is', async () => {
  await kubectl.apply(operator('gallery'));
  await ready('gallery');
  const { metadata } = await kubectl.get(operators, 'easel');
  await kubectl.deleteNamed('catalog', ['community']);
  await eventually(async () => {
    const gallery = await kubectl.get(operators, 'gallery');
    expect(conditionOf(gallery, 'Resolved')).toMatchObject({ status: 'False' });
    const easel = await kubectl.get(operators, 'easel');
    expect(conditionOf(easel, 'Resolved')).toMatchObject({ status: 'False' });
    expect(easel.metadata).toMatchObject({
      uid: metadata.uid,
      labels: { [mark]: 'true' },
      ownerReferences: metadata.ownerReferences,
    });
  });
  await kubectl.deleteNamed(operators, ['gallery']);
  await eventually(
    async () => expect(await kubectl.exists(operators, 'easel')).toBe(false),
    patiently,
  );
});

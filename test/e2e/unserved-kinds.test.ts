import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const place = { kubectl, registry, prefix: 'unserved' };
const plural = 'unservedgizmos.e2e.example.com';
const kinds = 'applyset.kubernetes.io/contains-group-kinds';
const gizmo = {
  apiVersion: 'e2e.example.com/v1',
  kind: 'UnservedGizmo',
  metadata: { name: 'unserved', namespace: 'default' },
  spec: { size: 1 },
};

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteNamed('crd', [plural], { ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => await system.stop());

async function isServed(served: boolean): Promise<void> {
  const change = [{ op: 'replace', path: '/spec/versions/0/served', value: served }];
  await kubectl.must(['patch', 'crd', plural, '--type=json', '-p', JSON.stringify(change)]);
  await eventually(async () => {
    const { code } = await kubectl.run(['get', '--raw', '/apis/e2e.example.com/v1/unservedgizmos']);
    expect(code === 0).toBe(served);
  });
}

/** Installs an object of a kind that somebody else's CRD defines. */
async function install(name: string): Promise<void> {
  await kubectl.apply(aCRD('UnservedGizmo'));
  await eventually(async () => {
    await kubectl.must(['get', '--raw', '/apis/e2e.example.com/v1/unservedgizmos']);
  });
  await rollOutPlain(place, { name, objects: [gizmo, aConfigMap('unserved')] });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function says(name: string, expected: object): Promise<void> {
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(conditionOf(found, 'Progressing')).toMatchObject({ status: 'False', ...expected });
  });
}

test('an upgrade keeps a kind that is not served in the inventory, and prunes when it is served', async () => {
  await install('unserved');
  await isServed(false);
  await rollOutPlain(place, { name: 'unserved', version: 2, objects: [aConfigMap('unserved')] });
  const message = expect.stringContaining('Not served: UnservedGizmo.e2e.example.com. ');
  await says('unserved', { reason: 'KindNotServed', message });
  const found = await kubectl.get('bundledeployment', 'unserved');
  expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  expect(found.metadata.annotations?.[kinds]).toBe('ConfigMap,UnservedGizmo.e2e.example.com');

  await isServed(true);
  await eventually(async () => {
    expect(await kubectl.exists(plural, 'unserved', 'default')).toBe(false);
    const { metadata, ...rest } = await kubectl.get('bundledeployment', 'unserved');
    expect(metadata.annotations?.[kinds]).toBe('ConfigMap');
    expect(conditionOf({ ...rest, metadata }, 'Progressing')).toBeUndefined();
  });
});

test('a kind whose CRD is deleted is no longer waited for', async () => {
  await install('forgotten');
  await isServed(false);
  await rollOutPlain(place, { name: 'forgotten', version: 2, objects: [aConfigMap('unserved')] });
  await says('forgotten', { reason: 'KindNotServed' });
  await isServed(true);
  await kubectl.deleteNamed('crd', [plural]);
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'forgotten');
    expect(found.metadata.annotations?.[kinds]).toBe('ConfigMap');
    expect(conditionOf(found, 'Progressing')).toBeUndefined();
  });
});

test('a deletion waits for a kind that is not served, and says so', async () => {
  const name = 'deleted';
  await install(name);
  // Core removes the objects of a deployment with a policy itself.
  const policy = JSON.stringify({ spec: { deletionPolicy: 'KeepCRDs' } });
  await kubectl.must(['patch', 'bundledeployment', name, '--type=merge', '-p', policy]);
  await eventually(async () => {
    const { metadata } = await kubectl.get('bundledeployment', name);
    expect(metadata.finalizers).toContain('core.rukpak.io/delete-objects');
  });
  await isServed(false);
  await kubectl.deleteNamed('bundledeployment', [name], { wait: false });
  const awaited = 'Waiting for the API server to serve UnservedGizmo.e2e.example.com: ';
  await says(name, { reason: 'Deleting', message: expect.stringContaining(awaited) });
  await isServed(true);
  await eventually(async () => {
    expect(await kubectl.exists(plural, 'unserved', 'default')).toBe(false);
    expect(await kubectl.exists('bundledeployment', name)).toBe(false);
  });
});

test('an optional object is left out until its kind is served', { tags: 'long' }, async () => {
  const annotations = { 'core.rukpak.io/optional': 'true' };
  const optional = { ...gizmo, metadata: { ...gizmo.metadata, annotations } };
  await rollOutPlain(place, { name: 'optional', objects: [optional, aConfigMap('unserved')] });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'optional');
    expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True' });
    const told = (await kubectl.list('events')).map(({ message }) => String(message));
    expect(told.join()).toContain('The cluster does not serve UnservedGizmo.e2e.example.com');
  });
  await kubectl.apply(aCRD('UnservedGizmo'));
  await eventually(
    async () => expect(await kubectl.exists(plural, 'unserved', 'default')).toBe(true),
    patiently,
  );
  await kubectl.deleteNamed('bundledeployment', ['optional']);
  expect(await kubectl.exists(plural, 'unserved', 'default')).toBe(false);
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { label } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';
import { TestOperator } from '../helpers/test-operator.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const namespaces = ['settle-a', 'settle-own'];

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  await kubectl.apply(...namespaces.map(aNamespace));
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('roles', label.ownerName)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  await system.stop();
});

function aNamespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function anOperator(name: string, ...modes: readonly string[]): TestOperator {
  return new TestOperator({ kubectl, registry, name, modes });
}

describe('the namespace to install to', () => {
  test('is awaited where it is not there', async () => {
    const operator = anOperator('early', 'OwnNamespace');
    await operator.rollOut({ installNamespace: 'settle-late', watchNamespace: 'settle-late' });
    await operator.condition('Installed', {
      status: 'False',
      message: expect.stringContaining('namespaces "settle-late" not found'),
    });
    await kubectl.apply(aNamespace('settle-late'));
    await operator.healthy();
    await operator.remove();
    expect(await kubectl.exists('namespace', 'settle-late')).toBe(true);
    await kubectl.deleteNamed('namespace', ['settle-late'], { wait: false });
  });

  test('may have several operators, each of which goes alone', async () => {
    const config = { installNamespace: 'settle-own', watchNamespace: 'settle-a' };
    const [first, second] = [
      anOperator('first', 'SingleNamespace'),
      anOperator('second', 'SingleNamespace'),
    ];
    await first.rollOut(config);
    await second.rollOut(config);
    await first.healthy();
    await second.healthy();
    await first.remove();
    await eventually(async () => {
      expect(await first.permittedIn()).toEqual([]);
    }, patiently);
    expect(await second.permittedIn()).toEqual(['settle-a', 'settle-own']);
    expect(await kubectl.exists('deployment', 'second', 'settle-own')).toBe(true);
  });

  test('may be the one that came with the bundle: it stays, with all that is in it', async () => {
    const operator = anOperator('stayer', 'AllNamespaces');
    const namespace = 'stayer-system';
    await operator.rollOut();
    await operator.healthy();
    const before = await kubectl.get('deployment', 'stayer', namespace);

    await operator.rollOut({ installNamespace: namespace });
    await operator.healthy();
    const left = await kubectl.get('namespace', namespace);
    expect(left.metadata.deletionTimestamp).toBeUndefined();
    expect(left.metadata.annotations).toMatchObject({ 'core.rukpak.io/left-by': 'stayer' });
    const after = await kubectl.get('deployment', 'stayer', namespace);
    expect(after.metadata.uid).toBe(before.metadata.uid);

    await operator.rollOut({ installNamespace: 'settle-own' });
    await operator.healthy();
    // The pods are Kubernetes' to collect.
    await eventually(async () => {
      expect(await kubectl.exists('deployment', 'stayer', namespace)).toBe(false);
      expect(await operator.watches()).toEqual({ 'settle-own': '' });
    }, patiently);

    await operator.rollOut();
    await operator.healthy();
    const { labels } = (await kubectl.get('namespace', namespace)).metadata;
    expect(labels).toMatchObject({ 'core.rukpak.io/owner-name': 'stayer' });
  });
});

test('the session of the howto goes as it says', { tags: 'long' }, async () => {
  const howto = { page: 'operators.md', kubectl, kubeconfig };
  expect(await followHowto(howto, 'A session')).toContain(
    'convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled',
  );
  const installed = await followHowto(howto, 'Install and watch namespaces');
  expect(installed.match(/painter-\S+\s+configMaps/g)).toHaveLength(1);
  expect(installed).toMatch(/^sheds +painter\.v1\.0\.0-/m);
  expect(await followHowto(howto, 'Unsupported install mode')).toContain(
    'supported install modes [MultiNamespace OwnNamespace SingleNamespace] do not support targeting all namespaces: write spec.config.watchNamespace: painters',
  );
  const ended = await followHowto(howto, 'The end of the session');
  expect(ended).toContain('namespace/painters\n');
});

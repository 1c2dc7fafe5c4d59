// @module-tag long
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { Backup, type BackupOptions } from '../helpers/backup.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const names = ['bk-app', 'bk-chart', 'bk-other'];
const kinds = 'configmaps,secrets,serviceaccounts,deployments';

let system: System;

beforeEach(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await kubectl.deleteAll('events,configmaps,serviceaccounts', { namespace: 'default' });
  await system.stop();
});

function hook(object: object, events: string): object {
  const { metadata, ...rest } = object as KubernetesObject;
  return { ...rest, metadata: { ...metadata, annotations: { 'core.rukpak.io/hook': events } } };
}

const migration = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'bk-migrate', namespace: 'default' },
  spec: {
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'example.invalid/a:1' }],
      },
    },
  },
};

function appObjects(version: number): readonly object[] {
  const events = 'pre-install,pre-upgrade';
  return [
    aConfigMap('bk-app', { version: String(version) }),
    aDeployment('bk-app'),
    hook(aConfigMap('bk-hook'), events),
    hook(migration, events),
    // Goes where the deployment is installed.
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bk-place' } },
  ];
}

/** By a patch: of what was restored somebody else has all fields. */
async function upgrade(): Promise<void> {
  const files = plainFiles(appObjects(2));
  const source = await pushContent({ registry, name: 'backup-bk-app', version: 2, files });
  const patch = JSON.stringify({ spec: { template: { spec: { source } } } });
  await kubectl.must(['patch', 'bundledeployment', 'bk-app', '--type=merge', `--patch=${patch}`]);
  await areHealthy();
}

async function rollOut(): Promise<void> {
  const place = { kubectl, registry, prefix: 'backup' };
  await rollOutPlain(place, { name: 'bk-app', objects: appObjects(1) });
  await rollOutPlain(place, { name: 'bk-other', objects: [aConfigMap('bk-other')] });
  const repository = 'e2e/charts/backup';
  const files = {
    'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
    'web/templates/all.yaml': `apiVersion: v1
kind: Secret
metadata: {name: bk-password, namespace: default}
stringData: {password: {{ randAlphaNum 24 | quote }}}
`,
  };
  await pushChart({ registry, repository, tag: '1.0.0', files });
  const className = 'core-rukpak-io-helm';
  const source = anImage(`${registry}/${repository}:1.0.0`);
  const template = { spec: { provisionerClassName: className, source } };
  await kubectl.apply({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name: 'bk-chart' },
    spec: { provisionerClassName: className, template },
  });
  await areHealthy();
}

async function areHealthy(): Promise<void> {
  for (const name of names) {
    await eventually(async () => {
      const deployment = (await kubectl.get('bundledeployment', name)) as BundleDeployment;
      const { status = {}, metadata } = deployment;
      expect(status.observedGeneration).toBe(metadata.generation);
      expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
      expect(conditionOf(deployment, 'Progressing')).toBeUndefined();
      expect(status.activeBundle).toBeTruthy();
    });
  }
}

function pathOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return `${kind}/${namespace}/${name}`;
}

/** UIDs of what the deployments have, by path. */
async function installed(): Promise<Readonly<Record<string, string | undefined>>> {
  const objects = await kubectl.list(kinds, 'core.rukpak.io/owner-name');
  return Object.fromEntries(objects.map((each) => [pathOf(each), each.metadata.uid]));
}

/** What hooks made is the garbage collector's, with its deployment. */
async function withoutHooks(): Promise<Readonly<Record<string, string | undefined>>> {
  const { 'ConfigMap/default/bk-hook': _, ...rest } = await installed();
  return rest;
}

async function password(): Promise<unknown> {
  return (await kubectl.get('secret', 'bk-password', 'default'))['data'];
}

async function eventsOf(...reasons: readonly string[]): Promise<readonly string[]> {
  const events = (await kubectl.list('events')).filter(({ reason }) =>
    reasons.includes(String(reason)),
  );
  return events.map(({ message }) => String(message));
}

/** What a disaster has left nothing of, and what there was. */
async function lose(
  options: BackupOptions = {},
): Promise<{ backup: Backup; values: unknown; paths: string[] }> {
  await rollOut();
  const values = await password();
  const paths = Object.keys(await installed()).toSorted();
  const backup = await Backup.take(kubectl, options);
  await system.stop();
  await backup.destroy();
  await kubectl.deleteAll('events', { namespace: 'default' });
  return { backup, values, paths };
}

/** Nothing was deleted, made twice or run again, and everything is as it was. */
async function expectRestored(values: unknown, paths: readonly string[]): Promise<void> {
  await areHealthy();
  expect(Object.keys(await installed()).toSorted()).toEqual(paths);
  expect(await password()).toEqual(values);
  expect(await eventsOf('ObjectsDeleted', 'HookSucceeded', 'HookFailed')).toEqual([]);
  expect(await kubectl.exists('job', 'bk-migrate', 'default')).toBe(false);
}

/** The marks are the restored deployments' own by now. */
async function expectDeletable(): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', ['bk-app']);
  await eventually(async () => {
    const left = Object.keys(await withoutHooks());
    expect(left.filter((path) => /bk-app|bk-place/.test(path))).toEqual([]);
  }, patiently);
  expect(await kubectl.exists('configmap', 'bk-other', 'default')).toBe(true);
  expect(await kubectl.exists('secret', 'bk-password', 'default')).toBe(true);
}

describe('a restore without status, and with other UIDs', () => {
  test('of objects, then of deployments, while core runs', async () => {
    const { backup, values, paths } = await lose();
    await backup.restore('Secret');
    system = await System.start({ kubeconfig, registry });
    await backup.restore('objects');
    const restored = await installed();
    await backup.restore('BundleDeployment', 'Bundle');
    await expectRestored(values, paths);
    expect(await installed()).toEqual(restored);
    await expectDeletable();
  });

  test('of deployments, then of objects, while core runs', async () => {
    const { backup, values, paths } = await lose();
    await backup.restore('Secret');
    system = await System.start({ kubeconfig, registry });
    await backup.restore('Bundle', 'BundleDeployment', 'objects');
    await expectRestored(values, paths);
    await expectDeletable();
  });

  test('of everything before core starts', async () => {
    const { backup, values, paths } = await lose();
    await backup.restore('BundleDeployment', 'objects', 'Bundle', 'Secret');
    const restored = await installed();
    system = await System.start({ kubeconfig, registry });
    await expectRestored(values, paths);
    expect(await installed()).toEqual(restored);
    // The next version runs its hooks, as an upgrade.
    await upgrade();
    expect((await eventsOf('HookSucceeded')).toSorted()).toEqual([
      'pre-upgrade hook ConfigMap/default/bk-hook has succeeded',
      'pre-upgrade hook Job/default/bk-migrate has succeeded',
    ]);
  });

  test('with the seed last: generated passwords wait for it', async () => {
    const { backup, values, paths } = await lose();
    system = await System.start({ kubeconfig, registry });
    await backup.restore('BundleDeployment', 'Bundle');
    await eventually(async () => {
      const chart = await kubectl.get('bundledeployment', 'bk-chart');
      expect(conditionOf(chart, 'Progressing')).toMatchObject({ reason: 'SeedChanged' });
    });
    expect(await kubectl.exists('secret', 'bk-password', 'default')).toBe(false);
    await kubectl.deleteNamed('secret', ['rukpak-seed'], { namespace: 'rukpak-system' });
    await backup.restore('Secret', 'objects');
    // It would read the seed within a minute.
    await system.terminate();
    await system.restart();
    await expectRestored(values, paths);
  });

  test('where the system namespace has another name', async () => {
    const systemNamespace = 'bk-elsewhere';
    const { backup, values, paths } = await lose({ systemNamespace });
    await kubectl.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: systemNamespace },
    });
    await backup.restore('Secret', 'Bundle', 'BundleDeployment', 'objects');
    const restored = await installed();
    const flags = [`--system-namespace=${systemNamespace}`];
    system = await System.start({ kubeconfig, registry, flags });
    await expectRestored(values, paths);
    expect(await installed()).toEqual(restored);
    expect(await kubectl.exists('configmap', 'bk-place', systemNamespace)).toBe(false);
    await kubectl.deleteNamed('namespace', [systemNamespace], { wait: false });
  });
});

test('our CRDs are deleted while core runs, applied again, and their objects restored', async () => {
  await rollOut();
  const values = await password();
  const before = await withoutHooks();
  const backup = await Backup.take(kubectl);
  // Where somebody insists.
  const guard = 'rukpak-validating-webhook-configuration';
  await kubectl.deleteNamed('validatingwebhookconfiguration', [guard]);
  const crds = ['bundledeployments.core.rukpak.io', 'bundles.core.rukpak.io'];
  for (const crd of crds) {
    await eventually(async () => await kubectl.must(['delete', 'crd', crd, '--timeout=300s']));
  }
  expect(await withoutHooks()).toEqual(before);
  await system.stop();
  await kubectl.deleteAll('events,jobs', { namespace: 'default' });
  system = await System.start({ kubeconfig, registry });
  await backup.restore('BundleDeployment', 'Bundle');
  await areHealthy();
  expect(await withoutHooks()).toEqual(before);
  expect(await password()).toEqual(values);
  expect(await eventsOf('ObjectsDeleted', 'HookSucceeded')).toEqual([]);
  await expectDeletable();
});

test('the session of the howto goes as it says', async () => {
  const howto = { page: 'backup.md', kubectl, kubeconfig };
  const printed = await followHowto(howto, 'A session');
  const { metadata } = await kubectl.get('bundledeployment', 'shop');
  expect(printed).toContain(`${metadata.uid}:/ConfigMap:default/shop-settings`);
  expect(printed).toContain(
    'ConfigMap/default/shop-orders has the labels of this BundleDeployment',
  );
  const end = await followHowto(howto, 'The end of the session');
  expect(end).toContain('configmap/shop-orders\n');
  expect(end).not.toContain('configmap/shop-settings\n');
  await eventually(async () => {
    await kubectl.deleteNamed('configmap', ['shop-content'], { namespace: 'rukpak-system' });
  });
});

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { Backup } from '../helpers/backup.ts';
import { bringOutPlain } from '../helpers/bring-out.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
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
  await kubectl.must(['delete', 'bundledeployments', '--all', '--timeout=300s']);
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await kubectl.must([
    'delete',
    'events,configmaps,serviceaccounts',
    '--all',
    '--namespace=default',
  ]);
  await system.stop();
});

afterAll(async () => {
  await kubectl.run(['delete', 'namespace', 'bk-elsewhere', '--wait=false']);
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

async function bringOut(version = 1): Promise<void> {
  const place = { kubectl, registry, prefix: 'backup' };
  const events = 'pre-install,pre-upgrade';
  const objects = [
    aConfigMap('bk-app', { version: String(version) }),
    aDeployment('bk-app'),
    hook(aConfigMap('bk-hook'), events),
    hook(migration, events),
    // Goes where the deployment is installed.
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bk-place' } },
  ];
  await bringOutPlain(place, { name: 'bk-app', version, objects });
  await bringOutPlain(place, { name: 'bk-other', objects: [aConfigMap('bk-other')] });
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
async function lose(options = {}): Promise<{ backup: Backup; values: unknown; paths: string[] }> {
  await bringOut();
  const values = await password();
  const paths = Object.keys(await installed()).toSorted();
  const backup = await Backup.take(kubectl, options);
  await system.stop();
  await backup.destroy();
  await kubectl.must(['delete', 'events', '--all', '--namespace=default']);
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
  await kubectl.must(['delete', 'bundledeployment', 'bk-app', '--timeout=300s']);
  await eventually(async () => {
    expect(Object.keys(await installed()).filter((path) => /app|place|hook/.test(path))).toEqual(
      [],
    );
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
    await bringOut(2);
    expect((await eventsOf('HookSucceeded')).toSorted()).toEqual([
      'pre-upgrade hook ConfigMap/default/bk-hook has succeeded',
      'pre-upgrade hook Job/default/bk-migrate has succeeded',
    ]);
  });
});

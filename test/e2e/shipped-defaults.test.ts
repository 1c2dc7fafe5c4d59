import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const overlay = join(import.meta.dirname, '../../deploy/overlays/self-signed');
const crd = 'gizmos.e2e.example.com';
const namespaces = ['defaults-walls', 'defaults-sheds'];
const maps = ['one', 'two', 'three', 'four'].map((name) => aConfigMap(`defaults-${name}`));

let system: InClusterSystem;

beforeAll(async () => {
  system = await InClusterSystem.install({ kubectl, registry, inProcess: true });
  await system.startWebhooks();
  await system.startCrdvalidator();
  await system.startCore();
});

afterAll(async () => {
  await system?.remove();
  await kubectl.deleteNamed('crd', [crd], { ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  await kubectl.deleteAll('configmaps', { namespace: 'default', ignoreNotFound: true });
  // It has no seed in it, which charts of the next test file would need.
  await kubectl.deleteNamed('secret', ['rukpak-seed'], {
    namespace: 'rukpak-system',
    ignoreNotFound: true,
  });
});

interface Given {
  readonly name: string;
  readonly version?: number;
  readonly objects: readonly object[];
}

/** Of a deployment that removes its objects itself. */
async function rollOut(given: Given): Promise<void> {
  const spec = { stages: { waitForReady: true } };
  await rollOutPlain({ kubectl, registry, prefix: 'defaults' }, { ...given, spec });
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', given.name);
    const { status, message } = conditionOf(deployment, 'Installed') ?? {};
    expect(status, message).toBe('True');
    expect(deployment['status']).toMatchObject({
      observedGeneration: deployment.metadata.generation,
    });
  });
}

async function aGizmo(name: string, namespace: string): Promise<void> {
  const gizmo = { apiVersion: 'e2e.example.com/v1', kind: 'Gizmo', metadata: { name, namespace } };
  await eventually(() => kubectl.must(['create', '-f', '-'], JSON.stringify(gizmo)));
}

test('a deletion of more than half of the objects waits, and says whose limit that is', async () => {
  await rollOut({ name: 'maps', objects: maps });
  await rollOut({ name: 'maps', version: 2, objects: maps.slice(0, 1) });
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', 'maps'), 'Progressing');
    expect(condition).toMatchObject({ status: 'False', reason: 'PruneHeld' });
    expect(condition?.message).toContain(
      '3 of 4 objects would be deleted, more than the 50 % that this cluster has as default of spec.prune.maxPercent. ' +
        'To delete them: kubectl annotate --overwrite bundledeployment maps core.rukpak.io/confirm-prune=',
    );
  });
  expect(await kubectl.exists('configmap', 'defaults-four', 'default')).toBe(true);
});

test('a deletion says which custom resources it takes, and takes none without being told to', async () => {
  await rollOut({ name: 'painter', objects: [aCRD('Gizmo'), aConfigMap('painter')] });
  for (const name of namespaces) {
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const name of ['a', 'b']) await aGizmo(name, 'defaults-walls');
  await aGizmo('c', 'defaults-sheds');
  const deletion = ['delete', 'bundledeployment', 'painter'];
  const warned = async (...flags: readonly string[]) =>
    (await kubectl.run([...deletion, ...flags])).stderr;
  expect(await warned('--dry-run=server')).toBe('');
  const policy = (deletionPolicy: string | null) => [
    'patch',
    'bundledeployment/painter',
    '--type=merge',
    `--patch=${JSON.stringify({ spec: { deletionPolicy } })}`,
  ];
  await kubectl.must(policy('Delete'));
  expect(await warned('--dry-run=server')).toBe(
    `Warning: Deleting BundleDeployment painter deletes CRD ${crd} and 3 Gizmos in 2 namespaces\n`,
  );
  expect(await warned('--dry-run=server', '--cascade=orphan')).toBe('');
  await kubectl.must(policy(null));
  expect(await warned('--timeout=300s')).toBe('');
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'painter', 'default')).toBe(false);
  }, patiently);
  expect((await kubectl.get('crd', crd)).metadata).not.toHaveProperty('deletionTimestamp');
  expect(await kubectl.exists('gizmos', 'a', 'defaults-walls')).toBe(true);
});

test('kubectl delete -k of the overlay leaves CRDs, deployments, the seed and what is installed', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'rukpak-seed' } };
  await kubectl.must(['apply', '--namespace=rukpak-system', '-f', '-'], JSON.stringify(secret));
  const { uid } = (await kubectl.get('configmap', 'defaults-one', 'default')).metadata;
  const { code, stdout, stderr } = await kubectl.run(['delete', '-k', overlay]);
  expect(code).toBe(1);
  expect(stdout).toContain('deployment.apps "core" deleted');
  for (const subject of [
    'CustomResourceDefinition "bundles.core.rukpak.io"',
    'CustomResourceDefinition "bundledeployments.core.rukpak.io"',
    'Namespace "rukpak-system"',
  ]) {
    expect(stderr).toContain(`refusing to delete ${subject}: 1 BundleDeployment exists, and `);
  }
  const stays = async (
    kind: string,
    name: string,
    namespace?: string,
  ): Promise<KubernetesObject> => {
    const object = await kubectl.get(kind, name, namespace);
    expect(object.metadata).not.toHaveProperty('deletionTimestamp');
    return object;
  };
  await stays('crd', 'bundles.core.rukpak.io');
  await stays('crd', 'bundledeployments.core.rukpak.io');
  await stays('bundledeployment', 'maps');
  await stays('secret', 'rukpak-seed', 'rukpak-system');
  expect((await stays('configmap', 'defaults-one', 'default')).metadata.uid).toBe(uid);
});

import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto, runCommand } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aCRD, aDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';
const hold = 'e2e.example.com/hold';
const finalizer = 'core.rukpak.io/delete-objects';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  // After a failure these may still be held.
  for (const { kind, metadata } of await kubectl.list('configmaps,deployments', ownerLabel)) {
    if (metadata.finalizers?.includes(hold)) await letGo(kind, metadata.name ?? '');
  }
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('configmaps,deployments', ownerLabel)).toEqual([]);
  }, patiently);
  await kubectl.deleteAll('configmaps', { namespace: 'default' });
});

afterAll(async () => await system.stop());

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain({ kubectl, registry, prefix: 'delete' }, wanted);
}

function statusOf(deployment: KubernetesObject): BundleDeploymentStatus {
  return deployment['status'] ?? {};
}

/** Waits until the template's Bundle is the active one. */
async function isInstalled(name: string, version = 1): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const status = statusOf(deployment);
    expect(conditionOf(deployment, 'Installed')?.status).toBe('True');
    expect(status.observedGeneration).toBe(deployment.metadata.generation);
    const bundle = await kubectl.get('bundle', status.activeBundle ?? 'none');
    expect(JSON.stringify(bundle['spec'])).toContain(`:v${version}"`);
    return status;
  });
}

async function says(
  name: string,
  expected: { readonly reason: string; readonly message?: unknown },
): Promise<Condition> {
  return await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Progressing');
    expect(condition).toMatchObject({ status: 'False', ...expected });
    return condition as Condition;
  });
}

async function remove(name: string, ...flags: readonly string[]): Promise<void> {
  await kubectl.must(['delete', 'bundledeployment', name, '--wait=false', ...flags]);
}

async function isGone(kind: string, name: string, namespace?: string): Promise<void> {
  await eventually(
    async () => expect(await kubectl.exists(kind, name, namespace)).toBe(false),
    patiently,
  );
}

async function isThere(name: string): Promise<boolean> {
  return await kubectl.exists('configmap', name, 'default');
}

/**
 * Waits until custom resources can be made. The API server was seen to take minutes over the
 * deletion of a CRD that it did not serve yet.
 */
async function isServed(plural: string): Promise<void> {
  const path = `/apis/e2e.example.com/v1/${plural}?limit=1`;
  await eventually(async () => await kubectl.must(['get', '--raw', path]));
}

function annotated(object: object, annotations: object): object {
  const { metadata, ...rest } = object as KubernetesObject;
  return { ...rest, metadata: { ...metadata, annotations } };
}

function inStage(stage: number, object: object): object {
  return annotated(object, { 'core.rukpak.io/stage': String(stage) });
}

function held(object: object): object {
  const { metadata, ...rest } = object as KubernetesObject;
  return { ...rest, metadata: { ...metadata, finalizers: [hold] } };
}

async function letGo(kind: string, name: string): Promise<void> {
  const patch = JSON.stringify({ metadata: { finalizers: null } });
  const place = ['--namespace=default', '--type=merge'];
  await kubectl.must(['patch', kind, name, ...place, '--patch', patch]);
}

function aNamespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function aResource(kind: string, name: string, namespace = 'default'): object {
  return {
    apiVersion: 'e2e.example.com/v1',
    kind,
    metadata: { name, namespace },
    spec: { size: 1 },
  };
}

/** Without a trace of us but the note of whose it was. */
async function expectNobodys(kind: string, name: string, namespace?: string): Promise<void> {
  const { metadata } = await kubectl.get(kind, name, namespace);
  expect(metadata.ownerReferences ?? []).toEqual([]);
  expect(Object.keys(metadata.labels ?? {}).join()).not.toMatch(/rukpak|applyset/);
  expect(metadata.annotations).toHaveProperty(['core.rukpak.io/left-by']);
}

describe('guards of a prune', () => {
  const maps = ['p-a', 'p-b', 'p-c', 'p-d'].map((name) => aConfigMap(name));

  test('more than the share wait, and go once confirmed by their digest', async () => {
    const spec = { prune: { maxPercent: 50 } };
    await rollOut({ name: 'share', objects: maps, spec });
    await isInstalled('share');
    await rollOut({ name: 'share', version: 2, objects: maps.slice(0, 1), spec });
    const { heldPrune } = await isInstalled('share', 2);
    const reason = '3 of 4 objects would be deleted, more than the 50 % of spec.prune.maxPercent';
    expect(heldPrune).toMatchObject({ reason, count: 3 });
    expect(heldPrune?.objects.map(({ name }) => name).toSorted()).toEqual(['p-b', 'p-c', 'p-d']);
    const digest = heldPrune?.digest ?? '';
    const confirm = `kubectl annotate --overwrite bundledeployment share core.rukpak.io/confirm-prune=${digest}`;
    await says('share', { reason: 'PruneHeld', message: expect.stringContaining(confirm) });

    const annotate = ['annotate', '--overwrite', 'bundledeployment', 'share'];
    await kubectl.must([...annotate, 'core.rukpak.io/confirm-prune=0123456789abcdef']);
    const other = 'has digest 0123456789abcdef, which is of other deletions';
    await says('share', { reason: 'PruneHeld', message: expect.stringContaining(other) });
    // A process that knows nothing of it finds the same.
    await system.kill();
    await system.restart();
    await says('share', { reason: 'PruneHeld', message: expect.stringContaining(confirm) });
    expect(await isThere('p-d')).toBe(true);

    await kubectl.must([...annotate, `core.rukpak.io/confirm-prune=${digest}`]);
    for (const name of ['p-b', 'p-c', 'p-d']) await isGone('configmap', name, 'default');
    await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', 'share');
      expect(statusOf(deployment).heldPrune).toBeUndefined();
      expect(conditionOf(deployment, 'Progressing')).toBeUndefined();
    });
    expect(await isThere('p-a')).toBe(true);
  });

  test('what waits and is deleted by somebody else is told of no longer', async () => {
    const spec = { prune: { maxPercent: 50 } };
    await rollOut({ name: 'by-hand', objects: maps, spec });
    await isInstalled('by-hand');
    await rollOut({ name: 'by-hand', version: 2, objects: maps.slice(0, 1), spec });
    expect((await isInstalled('by-hand', 2)).heldPrune?.count).toBe(3);
    const byHand = ['configmap', 'p-b', 'p-c', 'p-d', '--namespace=default'];
    // Once the first are gone, the rest is no more than half, which core deletes itself.
    await kubectl.must(['delete', ...byHand, '--ignore-not-found']);
    await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', 'by-hand');
      expect(statusOf(deployment).heldPrune).toBeUndefined();
      expect(conditionOf(deployment, 'Progressing')).toBeUndefined();
    });
  });

  test('namespaces and CRDs with custom resources wait; everything else goes', async () => {
    const spec = { prune: { confirmData: true } };
    const objects = [aNamespace('delete-data'), aCRD('Used'), aCRD('Unused'), ...maps.slice(0, 2)];
    await rollOut({ name: 'data', objects, spec });
    await isInstalled('data');
    await isServed('unuseds');
    await eventually(async () => await kubectl.apply(aResource('Used', 'mine')));
    await rollOut({ name: 'data', version: 2, objects: maps.slice(0, 1), spec });
    const { heldPrune } = await isInstalled('data', 2);
    expect(heldPrune?.objects.map(({ name }) => name).toSorted()).toEqual([
      'delete-data',
      'useds.e2e.example.com',
    ]);
    await isGone('crd', 'unuseds.e2e.example.com');
    await isGone('configmap', 'p-b', 'default');
    const confirm = `core.rukpak.io/confirm-prune=${heldPrune?.digest}`;
    await kubectl.must(['annotate', 'bundledeployment', 'data', confirm]);
    await isGone('crd', 'useds.e2e.example.com');
    await isGone('namespace', 'delete-data');
  });

  test('an object that is annotated just before stays, says so, and is nobody’s', async () => {
    await rollOut({ name: 'keep', objects: maps });
    await isInstalled('keep');
    const keep = ['core.rukpak.io/keep=true', '--namespace=default'];
    await kubectl.must(['annotate', 'configmap', 'p-d', ...keep]);
    await rollOut({ name: 'keep', version: 2, objects: maps.slice(0, 2) });
    await isInstalled('keep', 2);
    await isGone('configmap', 'p-c', 'default');
    await eventually(async () => await expectNobodys('configmap', 'p-d', 'default'));
    await eventually(async () => {
      const all = await kubectl.list('events');
      const told = all.filter(({ reason }) => reason === 'ObjectKept');
      expect(told.map(({ message, note }) => message ?? note)).toContain(
        'Core orphaned ConfigMap/default/p-d: it has annotation core.rukpak.io/keep',
      );
    });
    // Whoever takes it over needs no force.
    const taken = JSON.stringify(aConfigMap('p-d', { a: '2' }));
    await kubectl.must(['apply', '--server-side', '--field-manager=others', '-f', '-'], taken);
  });
});

describe('deletion', () => {
  test('is core’s alone, in the foreground too, and tells what it deletes', async () => {
    await rollOut({ name: 'simple', objects: [aConfigMap('d-a'), aConfigMap('d-b')] });
    await isInstalled('simple');
    const { metadata } = await kubectl.get('bundledeployment', 'simple');
    expect(metadata.finalizers).toEqual([finalizer]);
    await system.kill();
    await remove('simple', '--cascade=foreground');
    await kubectl.must(['annotate', 'cm', 'd-b', '-n=default', 'core.rukpak.io/keep=true']);
    await system.restart();
    await isGone('bundledeployment', 'simple');
    expect(await isThere('d-a')).toBe(false);
    await expectNobodys('configmap', 'd-b', 'default');
    const told = (await kubectl.list('events'))
      .filter((event) => (event['involvedObject'] as { uid?: string }).uid === metadata.uid)
      .map(({ message }) => String(message));
    expect(told).toContain('Deleted ConfigMap/default/d-a: its BundleDeployment is deleted');
    expect(told).toContainEqual(
      expect.stringMatching(/^Core orphaned ConfigMap\/default\/d-b: .*annotation/),
    );
    await kubectl.deleteNamed('configmap', ['d-b'], { namespace: 'default' });
  });

  test('of stages goes in reverse, waits for finalizers of others, and survives crashes', {
    tags: ['long'],
  }, async () => {
    const objects = [
      inStage(1, aConfigMap('d-first')),
      inStage(2, held(aConfigMap('d-second'))),
      inStage(3, aConfigMap('d-third')),
      aDeployment('d-app'),
    ];
    await rollOut({ name: 'staged', objects });
    await isInstalled('staged');
    await remove('staged');
    const message =
      /^Waiting for ConfigMap\/default\/d-second to be deleted \(deletion requested at \S+Z\), blocked by its finalizers e2e\.example\.com\/hold$/;
    await says('staged', { reason: 'Deleting', message: expect.stringMatching(message) });
    expect(await isThere('d-third')).toBe(false);
    expect(await isThere('d-first')).toBe(true);

    await system.kill();
    // Nobody needs the content, or the Bundles.
    await rm(system.archives, { recursive: true, force: true });
    await system.restart();
    expect(await isThere('d-first')).toBe(true);
    await system.kill();
    await letGo('configmap', 'd-second');
    await system.restart();
    await isGone('bundledeployment', 'staged');
    expect(await isThere('d-first')).toBe(false);
    await isGone('deployment', 'd-app', 'default');
  });

  test('waits for the pods of a workload before what they use goes', async () => {
    const objects = [aConfigMap('d-used'), held(aDeployment('d-workload'))];
    await rollOut({ name: 'pods', objects, spec: { stages: { waitForReady: true } } });
    await isInstalled('pods');
    await remove('pods');
    await says('pods', {
      reason: 'Deleting',
      message: expect.stringContaining('Waiting for Deployment/default/d-workload to be deleted'),
    });
    expect(await isThere('d-used')).toBe(true);
    const all = await kubectl.list('pods');
    await eventually(async () => {
      const pods = (await kubectl.list('pods')).filter(({ metadata }) =>
        metadata.name?.startsWith('d-workload-'),
      );
      expect(pods, `of ${all.length}`).toEqual([]);
    }, patiently);
    await letGo('deployment', 'd-workload');
    await isGone('bundledeployment', 'pods');
  });

  test('with Orphan leaves everything, for others to take over', async () => {
    const objects = [aConfigMap('d-left', { a: '1' }), aDeployment('d-running')];
    await rollOut({ name: 'orphan', objects, spec: { deletionPolicy: 'Orphan' } });
    await isInstalled('orphan');
    await remove('orphan');
    await isGone('bundledeployment', 'orphan');
    await expectNobodys('configmap', 'd-left', 'default');
    await expectNobodys('deployment', 'd-running', 'default');
    const taken = JSON.stringify(aConfigMap('d-left', { a: '2' }));
    await kubectl.must(['apply', '--server-side', '--field-manager=others', '-f', '-'], taken);
    await kubectl.deleteNamed('deployment', ['d-running'], { namespace: 'default' });
  });

  test.each(['foreground', 'orphan'])(
    'with Orphan and --cascade=%s leaves everything too',
    async (cascade) => {
      const spec = { deletionPolicy: 'Orphan' };
      await rollOut({ name: `orphan-${cascade}`, objects: [aConfigMap('d-left')], spec });
      await isInstalled(`orphan-${cascade}`);
      await remove(`orphan-${cascade}`, `--cascade=${cascade}`);
      await isGone('bundledeployment', `orphan-${cascade}`);
      await eventually(async () => await expectNobodys('configmap', 'd-left', 'default'));
      await kubectl.deleteAll('bundles');
    },
  );

  test('with --cascade=orphan leaves everything, whatever the policy, also after a crash', async () => {
    const objects = [inStage(1, aConfigMap('d-left')), inStage(2, aConfigMap('d-left-too'))];
    await rollOut({ name: 'cascade', objects });
    await isInstalled('cascade');
    await system.kill();
    await remove('cascade', '--cascade=orphan');
    await system.restart();
    await isGone('bundledeployment', 'cascade');
    await expectNobodys('configmap', 'd-left', 'default');
    await expectNobodys('configmap', 'd-left-too', 'default');
    await kubectl.deleteAll('bundles');
  });

  test('with --cascade=orphan leaves everything also where core comes to it late, with an adopted Bundle', async () => {
    const first = { name: 'late', objects: [aConfigMap('d-left')] };
    await rollOut(first);
    await isInstalled('late');
    await remove('late', '--cascade=orphan');
    await isGone('bundledeployment', 'late');
    await rollOut(first);
    await isInstalled('late');
    await rollOut({
      name: 'late-user',
      objects: [aConfigMap('d-user')],
      spec: { dependsOn: [{ name: 'late' }] },
    });
    await isInstalled('late-user');
    await remove('late', '--cascade=orphan');
    await says('late', { reason: 'WaitingForDependents' });
    await eventually(async () => {
      const { metadata } = await kubectl.get('bundledeployment', 'late');
      expect(metadata.finalizers).toEqual(['core.rukpak.io/delete-objects']);
    });
    await remove('late-user');
    await isGone('bundledeployment', 'late');
    await expectNobodys('configmap', 'd-left', 'default');
    await kubectl.deleteAll('bundles');
  });

  test('of many objects is resumed wherever it is killed, and leaves none', {
    tags: 'long',
  }, async () => {
    const names = Array.from({ length: 60 }, (_, i) => `d-many-${i}`);
    const objects = names.map((name, i) => inStage(i % 6, aConfigMap(name)));
    await rollOut({ name: 'many', objects });
    await isInstalled('many');
    const left = async () => (await kubectl.list('configmaps', ownerLabel)).length;
    await remove('many');
    const seen = [names.length];
    // A busy machine may delete but one from one start to the next.
    while ((seen.at(-1) ?? 0) > 0 && seen.length < 15) {
      const before = seen.at(-1);
      await eventually(async () => expect(await left()).toBeLessThan(before ?? 0), { every: 5 });
      await system.kill();
      seen.push(await left());
      await system.restart();
    }
    console.log(`objects left at each kill: ${seen.join(' ')}`);
    await isGone('bundledeployment', 'many');
    expect(await left()).toBe(0);
  });

  test('in the foreground keeps the order', async () => {
    const objects = [inStage(1, aConfigMap('d-first')), inStage(2, held(aConfigMap('d-second')))];
    await rollOut({ name: 'foreground', objects });
    await isInstalled('foreground');
    await remove('foreground', '--cascade=foreground');
    await says('foreground', { reason: 'Deleting' });
    expect(await isThere('d-first')).toBe(true);
    await letGo('configmap', 'd-second');
    await isGone('bundledeployment', 'foreground');
    expect(await isThere('d-first')).toBe(false);
  });

  test('with KeepCRDs leaves CRDs, custom resources and the namespaces that have some', async () => {
    const objects = [
      aCRD('Kept'),
      aResource('Kept', 'ours'),
      aNamespace('delete-full'),
      aNamespace('delete-empty'),
      aConfigMap('d-goes'),
    ];
    await rollOut({ name: 'crds', objects, spec: { deletionPolicy: 'KeepCRDs' } });
    await isInstalled('crds');
    await eventually(async () => await kubectl.apply(aResource('Kept', 'theirs', 'delete-full')));
    await remove('crds');
    await isGone('bundledeployment', 'crds');
    expect(await isThere('d-goes')).toBe(false);
    await isGone('namespace', 'delete-empty');
    await expectNobodys('crd', 'kepts.e2e.example.com');
    await expectNobodys('kepts.e2e.example.com', 'ours', 'default');
    await expectNobodys('namespace', 'delete-full');
    expect(await kubectl.exists('kepts.e2e.example.com', 'theirs', 'delete-full')).toBe(true);
    await kubectl.must(['delete', 'crd/kepts.e2e.example.com', 'namespace/delete-full']);
  });

  test('waits for what depends on it, and the whole chain goes in reverse', async () => {
    const after = (...names: string[]) => ({ dependsOn: names.map((name) => ({ name })) });
    await rollOut({ name: 'base', objects: [aConfigMap('d-base')] });
    await isInstalled('base');
    await rollOut({ name: 'app', objects: [held(aConfigMap('d-app'))], spec: after('base') });
    await isInstalled('app');
    await remove('base');
    await says('base', {
      reason: 'WaitingForDependents',
      message:
        'deletion waits for BundleDeployment app, which depends on it: delete it too, or take this one out of its spec.dependsOn',
    });
    await remove('app');
    await says('app', { reason: 'Deleting' });
    expect(await isThere('d-base')).toBe(true);
    await letGo('configmap', 'd-app');
    await isGone('bundledeployment', 'app');
    await isGone('bundledeployment', 'base');
    expect(await isThere('d-base')).toBe(false);
  });

  test('goes on when the dependent no longer depends on it', async () => {
    await rollOut({ name: 'base', objects: [aConfigMap('d-base')] });
    const spec = { dependsOn: [{ name: 'base' }] };
    await rollOut({ name: 'app', objects: [aConfigMap('d-app')], spec });
    await isInstalled('app');
    await remove('base');
    await says('base', { reason: 'WaitingForDependents' });
    await rollOut({ name: 'app', objects: [aConfigMap('d-app')] });
    await isGone('bundledeployment', 'base');
  });

  test('leaves a live object that is annotated to be kept, whatever else is asked for', async () => {
    await rollOut({ name: 'kept', objects: [aConfigMap('d-kept'), aConfigMap('d-goes')] });
    await isInstalled('kept');
    await kubectl.must(['annotate', 'cm', 'd-kept', '-n=default', 'core.rukpak.io/keep=true']);
    await remove('kept');
    await isGone('bundledeployment', 'kept');
    expect(await isThere('d-goes')).toBe(false);
    await expectNobodys('configmap', 'd-kept', 'default');
  });

  test('of what never was applied, or is gone already, does not hang', async () => {
    const spec = { deletionPolicy: 'Orphan' };
    const source = anImage(`${registry}/e2e/nothing:v1`);
    const never = aBundleDeployment({ name: 'never', source }) as KubernetesObject & {
      spec: object;
    };
    await kubectl.apply({ ...never, spec: { ...never.spec, ...spec } });
    const objects = [
      aNamespace('delete-gone'),
      aCRD('Gone'),
      inStage(30, aResource('Gone', 'one', 'delete-gone')),
    ];
    await rollOut({ name: 'gone', objects });
    await isInstalled('gone');
    await system.kill();
    await kubectl.must(['delete', 'crd/gones.e2e.example.com', 'namespace/delete-gone']);
    await remove('gone');
    await remove('never');
    await system.restart();
    await isGone('bundledeployment', 'gone');
    await isGone('bundledeployment', 'never');
  });

  test('that the server refuses says why, and goes on when it no longer does', async () => {
    const name = 'e2e-refuse';
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['DELETE'],
              resources: ['configmaps'],
            },
          ],
        },
        validations: [
          { expression: "oldObject.metadata.name != 'd-refused'", message: 'it is precious' },
        ],
      },
    };
    const binding = {
      ...policy,
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: { policyName: name, validationActions: ['Deny'] },
    };
    await kubectl.apply(policy, binding);
    await rollOut({ name: 'refused', objects: [inStage(1, aConfigMap('d-refused'))] });
    await isInstalled('refused');
    await eventually(async () => {
      const probe = await kubectl.run([
        'delete',
        'cm',
        'd-refused',
        '-n=default',
        '--dry-run=server',
      ]);
      expect(probe.code).not.toBe(0);
    });
    await remove('refused');
    await says('refused', {
      reason: 'Deleting',
      message: expect.stringContaining('it is precious'),
    });
    await kubectl.must([
      'delete',
      `validatingadmissionpolicybinding/${name}`,
      `validatingadmissionpolicy/${name}`,
    ]);
    await isGone('bundledeployment', 'refused');
    expect(await isThere('d-refused')).toBe(false);
  });
});

test('the howto’s session does what it says', { tags: 'long' }, async () => {
  const howto = { page: 'prune-and-delete.md', kubectl, kubeconfig };
  const printed = await followHowto(howto, 'A session');
  const [, command = ''] = printed.split('To delete them: ');
  expect(command).toMatch(/^kubectl annotate --overwrite bundledeployment notes \S+$/);
  await runCommand(howto, command);
  await followHowto(howto, 'The rest of the session');
  const end = await followHowto(howto, 'The end of the session');
  expect(end).toContain('not to be lost');
  expect(end).toContain('"core.rukpak.io/left-by":"notes"');
  await eventually(async () => {
    const contents = ['notes-content-1', 'notes-content-2'];
    await kubectl.deleteNamed('configmap', contents, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  });
});

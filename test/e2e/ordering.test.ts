import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment, BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { wantedBundle } from '../../core/bundle-deployment/index.ts';
import { type ApiRequest, AuditLog, isWrite } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aCRD, aDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

let system: System;
let kubectl: Kubectl;
const kubeconfig = plane.kubeconfig;
const registry = plane.registry;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await kubectl.labelNodes({ ordering: null });
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('deployments,configmaps', ownerLabel)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  const contents = ['shop-content', 'catalog-content'];
  // They are in use until the webhook knows that the Bundles are gone.
  await eventually(async () => {
    await kubectl.deleteNamed('configmap', contents, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  });
  await system.stop();
});

const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain({ kubectl, registry, prefix: 'ordering' }, wanted);
}

function inStage(stage: number | string, object: object): object {
  const { metadata, ...rest } = object as KubernetesObject;
  const annotations = { 'core.rukpak.io/stage': String(stage) };
  return { ...rest, metadata: { ...metadata, annotations } };
}

/** A Deployment that is available once a node has the label `ordering=<name>`. */
function anUnready(name: string, label = name): object {
  const deployment = aDeployment(name) as {
    spec: { template: { spec: object } };
  };
  const { spec } = deployment;
  const template = { ...spec.template, spec: podsFor(label, spec.template.spec) };
  return { ...deployment, spec: { ...spec, template } };
}

function podsFor(label: string, spec: object): object {
  return { ...spec, nodeSelector: { ordering: label } };
}

const jobPods = {
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'example.invalid/none:1' }],
};

/** Makes the pods of `anUnready` anew, where no node is for them any more, until it shows. */
async function breakDown(deployment: string): Promise<void> {
  await makeReady('nobody');
  await eventually(
    async () => {
      // One that the scheduler placed before it knew of the label is deleted with the next try.
      await kubectl.deleteAll('pods', { namespace: 'default', wait: false });
      const live = await kubectl.get('bundledeployment', deployment);
      expect(conditionOf(live, 'Healthy')).toMatchObject({ status: 'False' });
    },
    { every: 1_000 },
  );
}

async function makeReady(label: string): Promise<void> {
  await kubectl.labelNodes({ ordering: label });
}

function isOfDeployments({ resource }: ApiRequest): boolean {
  return resource === 'deployments';
}

function statusOf(deployment: KubernetesObject): BundleDeploymentStatus {
  return (deployment['status'] as BundleDeploymentStatus | undefined) ?? {};
}

async function condition(
  name: string,
  type: string,
  expected: Partial<Condition>,
): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, type)).toMatchObject(expected);
    return statusOf(deployment);
  });
}

async function isUp(name: string, bundle?: string): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Progressing')).toBeUndefined();
    if (bundle !== undefined) expect(statusOf(deployment).activeBundle).not.toBe(bundle);
    return statusOf(deployment);
  });
}

const waits = { stages: { waitForReady: true } };

describe('stages', () => {
  test('objects are made in the order of their annotations', async () => {
    const objects = [
      inStage(5, aConfigMap('ordering-last')),
      inStage(-30, aConfigMap('ordering-first')),
      aConfigMap('ordering-middle'),
    ];
    await rollOut({ name: 'staged', objects });
    await isUp('staged');
    const made = await kubectl.list('configmaps', ownerLabel);
    const versions = made.map(({ metadata }) => [Number(metadata.resourceVersion), metadata.name]);
    expect(versions.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, name]) => name)).toEqual([
      'ordering-first',
      'ordering-middle',
      'ordering-last',
    ]);
  });

  test('the next stage waits until the one before is ready, also across a restart', async () => {
    const audit = new AuditLog(plane.clusterDir);
    const position = await audit.position();
    const objects = [inStage(1, anUnready('ordering-db')), inStage(2, aDeployment('ordering-web'))];
    await rollOut({ name: 'waiting', objects, spec: waits });
    const message =
      'stage 2 waits for stage 1: (apps/v1, Kind=Deployment)(default/ordering-db): object InProgress: Available: 0/1';
    const expected = { status: 'False', reason: 'WaitingForStage', message } as const;
    await condition('waiting', 'Progressing', expected);
    const { activeBundle } = await condition('waiting', 'Installed', expected);
    expect(activeBundle).toBeUndefined();
    await system.kill();
    await system.restart();
    expect(await kubectl.exists('deployment', 'ordering-web', 'default')).toBe(false);
    await makeReady('ordering-db');
    await isUp('waiting');
    expect(await kubectl.exists('deployment', 'ordering-web', 'default')).toBe(true);
    // Each was sent once, however often the first one was looked at.
    const requests = await audit.since(position);
    const sent = requests.filter((request) => isWrite(request) && isOfDeployments(request));
    expect(sent).toHaveLength(2);
  });

  test('applied objects are repaired while the next stage waits', async () => {
    const objects = [
      inStage(1, aConfigMap('ordering-config')),
      inStage(1, anUnready('ordering-db')),
      inStage(2, aDeployment('ordering-web')),
    ];
    await rollOut({ name: 'repaired', objects, spec: waits });
    await condition('repaired', 'Progressing', { reason: 'WaitingForStage' });
    await kubectl.deleteNamed('configmap', ['ordering-config'], { namespace: 'default' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'ordering-config', 'default')).toBe(true);
    });
    expect(await kubectl.exists('deployment', 'ordering-web', 'default')).toBe(false);
  });

  test('an upgrade waits too, keeps the active Bundle, and prunes at the end', async () => {
    const web = inStage(2, aDeployment('ordering-web'));
    const old = aConfigMap('ordering-old');
    await rollOut({
      name: 'upgraded',
      objects: [aDeployment('ordering-db'), web, old],
      spec: waits,
    });
    const { activeBundle = '' } = await isUp('upgraded');
    const objects = [
      anUnready('ordering-db'),
      inStage(2, aDeployment('ordering-web', { env: [] })),
    ];
    await rollOut({
      name: 'upgraded',
      version: 2,
      objects: [...objects, inStage(2, aConfigMap('ordering-new'))],
      spec: waits,
    });
    const status = await condition('upgraded', 'Installed', { reason: 'WaitingForStage' });
    expect(status.activeBundle).toBe(activeBundle);
    expect(await kubectl.exists('configmap', 'ordering-old', 'default')).toBe(true);
    expect(await kubectl.exists('configmap', 'ordering-new', 'default')).toBe(false);
    await makeReady('ordering-db');
    await isUp('upgraded', activeBundle);
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'ordering-old', 'default')).toBe(false);
    });
    expect(await kubectl.exists('configmap', 'ordering-new', 'default')).toBe(true);
  });

  test('an upgrade that waits for too long is rolled back', async () => {
    const spec = { ...waits, rollback: { deadline: '20s' } };
    const objects = [aDeployment('ordering-db')];
    await rollOut({ name: 'given-up', objects, spec });
    const { activeBundle = '' } = await isUp('given-up');
    const later = [anUnready('ordering-db'), inStage(2, aConfigMap('ordering-new'))];
    await rollOut({ name: 'given-up', version: 2, objects: later, spec });
    await condition('given-up', 'Progressing', { reason: 'WaitingForStage' });
    await condition('given-up', 'Progressing', { reason: 'RolledBack' });
    const status = await condition('given-up', 'Healthy', { status: 'True' });
    expect(status.activeBundle).toBe(activeBundle);
    expect(await kubectl.exists('configmap', 'ordering-new', 'default')).toBe(false);
  });

  test('drift of what is installed is repaired though an earlier stage is not ready any more', async () => {
    const objects = [
      inStage(1, anUnready('ordering-db')),
      inStage(2, aConfigMap('ordering-config')),
    ];
    await makeReady('ordering-db');
    await rollOut({ name: 'drifted', objects, spec: waits });
    await isUp('drifted');
    await breakDown('drifted');
    await kubectl.deleteNamed('configmap', ['ordering-config'], { namespace: 'default' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'ordering-config', 'default')).toBe(true);
    });
    await condition('drifted', 'Installed', { status: 'True' });
    // A process that never saw it whole repairs it as well.
    await system.kill();
    await kubectl.deleteNamed('configmap', ['ordering-config'], { namespace: 'default' });
    await system.restart();
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'ordering-config', 'default')).toBe(true);
    });
    await condition('drifted', 'Installed', { status: 'True' });
  });

  test('a CRD in a stage of its own comes in time, one that comes too late is refused', async () => {
    const custom = {
      apiVersion: 'e2e.example.com/v1',
      kind: 'Gauge',
      metadata: { name: 'one', namespace: 'default' },
      spec: { size: 1 },
    };
    await rollOut({ name: 'custom', objects: [custom, inStage(20, aCRD('Gauge'))] });
    await condition('custom', 'Installed', {
      reason: 'InstallFailed',
      message:
        'Gauge "one" in namespace "default" is in stage 10, before stage 20 of CustomResourceDefinition "gauges.e2e.example.com" that it needs: change the annotation core.rukpak.io/stage of one of them',
    });
    const objects = [inStage(30, custom), inStage(20, aCRD('Gauge')), aConfigMap('ordering-first')];
    await rollOut({ name: 'custom', version: 2, objects, spec: waits });
    await isUp('custom');
    await eventually(async () => {
      expect(await kubectl.exists('gauges.e2e.example.com', 'one', 'default')).toBe(true);
    });
  });

  test('a rule has the next stage wait until a Job has succeeded', async () => {
    const migration = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'ordering-migrate', namespace: 'default' },
      spec: { template: { spec: podsFor('migrate', jobPods) } },
    };
    const objects = [inStage(-1, migration), aDeployment('ordering-web')];
    const rules = [{ group: 'batch', kind: 'Job', healthy: 'has(self.status.succeeded)' }];
    await rollOut({ name: 'migrated', objects, spec: { ...waits, health: { rules } } });
    const message = expect.stringMatching(/^stage 0 waits for stage -1: .*ordering-migrate.*hold$/);
    await condition('migrated', 'Progressing', { message });
    await makeReady('migrate');
    await isUp('migrated');
  });

  test('a stage that is no number is refused by name', async () => {
    await rollOut({ name: 'odd', objects: [inStage('first', aConfigMap('ordering-odd'))] });
    await condition('odd', 'Installed', {
      status: 'False',
      message:
        'ConfigMap "ordering-odd": annotation core.rukpak.io/stage is "first": it must be a whole number of at most six digits, in quotes, such as "5" or "-1"',
    });
  });
});

/** As a class says it that reports no health. */
function anInstalled(): Condition {
  return {
    type: 'Installed',
    status: 'True',
    reason: 'InstallationSucceeded',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
}

function after(...names: readonly string[]): object {
  return { dependsOn: names.map((name) => ({ name })) };
}

describe('dependencies', () => {
  test('a deployment waits for one that is missing, then for its health', async () => {
    await rollOut({ name: 'app', objects: [aConfigMap('ordering-app')], spec: after('base') });
    const because = (text: string) => ({
      status: 'False' as const,
      reason: 'WaitingForDependencies',
      message: `waiting for BundleDeployment base because ${text}`,
    });
    await condition('app', 'Progressing', because('it does not exist'));
    await rollOut({ name: 'base', objects: [anUnready('ordering-base')] });
    await condition(
      'app',
      'Progressing',
      because(
        'its Healthy condition says: (apps/v1, Kind=Deployment)(default/ordering-base): object InProgress: Available: 0/1',
      ),
    );
    expect(await kubectl.exists('configmap', 'ordering-app', 'default')).toBe(false);
    await makeReady('ordering-base');
    const { activeBundle = '' } = await isUp('app');

    // Once installed it stays, and is repaired; the next Bundle waits again.
    await breakDown('base');
    await kubectl.deleteNamed('configmap', ['ordering-app'], { namespace: 'default' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'ordering-app', 'default')).toBe(true);
    });
    const objects = [aConfigMap('ordering-app', { version: '2' })];
    await rollOut({ name: 'app', version: 2, objects, spec: after('base') });
    const message = expect.stringContaining('base because its Healthy condition says: ');
    const waiting = await condition('app', 'Progressing', { message });
    expect(waiting.activeBundle).toBe(activeBundle);
    await makeReady('ordering-base');
    await isUp('app', activeBundle);
  });

  test('one of a class that somebody else serves counts as well', async () => {
    const objects = [aConfigMap('ordering-app')];
    await rollOut({ name: 'app', objects, spec: after('foreign') });
    const source = { type: 'image', image: { ref: 'example.invalid/none:1' } } as const;
    const { spec, ...rest } = aBundleDeployment({ name: 'foreign', source }) as KubernetesObject & {
      spec: object;
    };
    await kubectl.apply({ ...rest, spec: { ...spec, provisionerClassName: 'example-com-other' } });
    const message = expect.stringContaining('its last change is not reconciled yet');
    await condition('app', 'Progressing', { message });
    const foreign = (await kubectl.get('bundledeployment', 'foreign')) as BundleDeployment;
    const status = {
      observedGeneration: foreign.metadata.generation,
      activeBundle: wantedBundle(foreign),
      conditions: [anInstalled()],
    };
    const patch = ['--subresource=status', '--type=merge', '--patch', JSON.stringify({ status })];
    await kubectl.must(['patch', 'bundledeployment', 'foreign', ...patch]);
    await isUp('app');
  });

  test('a cycle is refused with its names', async () => {
    await rollOut({ name: 'a', objects: [aConfigMap('ordering-a')], spec: after('b') });
    await rollOut({ name: 'b', objects: [aConfigMap('ordering-b')], spec: after('c') });
    await eventually(async () => {
      const objects = [aConfigMap('ordering-c')];
      // The webhook learns of the others by a watch.
      await expect(rollOut({ name: 'c', objects, spec: after('a') })).rejects.toThrow(
        'spec.dependsOn makes a cycle: c -> a -> b -> c',
      );
    });
    await expect(
      rollOut({ name: 'd', objects: [aConfigMap('ordering-d')], spec: after('d') }),
    ).rejects.toThrow('spec.dependsOn makes a cycle: d -> d');
  });

  test('a cycle that slipped through is named, and ends when one of them changes', async () => {
    // Nobody is asked while the webhook answers for no deployment.
    const configuration = 'rukpak-validating-webhook-configuration';
    const kept = await kubectl.get('validatingwebhookconfiguration', configuration);
    await kubectl.deleteNamed('validatingwebhookconfiguration', [configuration]);
    await rollOut({ name: 'a', objects: [aConfigMap('ordering-a')], spec: after('b') });
    await eventually(async () => {
      await rollOut({ name: 'b', objects: [aConfigMap('ordering-b')], spec: after('a') });
    });
    for (const [name, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      await condition(name, 'Progressing', {
        message: `waiting for BundleDeployment ${other} because it waits for this one: ${name} -> ${other} -> ${name}; take one of them out of spec.dependsOn`,
      });
    }
    const {
      resourceVersion: _,
      uid: __,
      managedFields: ___,
      ...metadata
    } = kept.metadata as {
      managedFields?: unknown;
    } & KubernetesObject['metadata'];
    await kubectl.apply({ ...kept, metadata });
    await rollOut({ name: 'b', objects: [aConfigMap('ordering-b')] });
    await isUp('b');
    await isUp('a');
  });
});

/** Others have namespaces of these names too, and they go in their own time. */
async function removeNamespaces(): Promise<void> {
  const names = ['shop', 'catalog', '--ignore-not-found', '--timeout=600s'];
  await kubectl.must(['delete', 'namespace', ...names]);
}

test('the howto’s session does what it says', { tags: 'long' }, async () => {
  await removeNamespaces();
  const printed = await followHowto({ page: 'ordering.md', kubectl, kubeconfig }, 'A session');
  expect(printed).toContain('waiting for BundleDeployment catalog because it does not exist');
  const [cache, web] = printed.trimEnd().split('\n').slice(-2);
  expect(cache).toMatch(/^cache /);
  expect(web).toMatch(/^web /);
  await kubectl.deleteNamed('bundledeployments', ['shop', 'catalog']);
  await removeNamespaces();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { type ApiRequest, AuditLog, isWrite } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);
/** Longer than a repair takes. */
const quiet = 3000;

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    const left = await kubectl.list('configmaps', ownerLabel);
    expect(left.filter(({ metadata }) => metadata.name?.startsWith('own-'))).toEqual([]);
  }, patiently);
  const strangers = ['--namespace=default', '--selector=stranger', '--ignore-not-found'];
  await kubectl.must(['delete', 'configmaps', ...strangers]);
});

afterAll(async () => {
  await eventually(async () => {
    const names = ['ownership-shop-content', 'ownership-prices-content'];
    await kubectl.deleteNamed('configmap', names, {
      namespace: 'rukpak-system',
      ignoreNotFound: true,
    });
  }, patiently);
  await system.stop();
});

const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';
const handOver = 'core.rukpak.io/hand-over';

interface Wanted {
  readonly name: string;
  readonly version?: number;
  readonly objects: readonly object[];
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A BundleDeployment of these objects, as it is to be applied. */
async function aDeploymentOf(wanted: Wanted): Promise<object> {
  const { name, version = 1, objects, spec = {}, annotations = {} } = wanted;
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `ownership-${name}`, version, files });
  const deployment = aBundleDeployment({ name, source }, { annotations });
  return { ...deployment, spec: { ...(deployment as { spec: object }).spec, ...spec } };
}

async function rollOut(...wanted: readonly Wanted[]): Promise<void> {
  await kubectl.apply(...(await Promise.all(wanted.map(aDeploymentOf))));
}

async function isUp(name: string): Promise<void> {
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(found['status']).toMatchObject({ observedGeneration: found.metadata.generation });
    expect(conditionOf(found, 'HasValidBundle')).toMatchObject({ reason: 'UnpackSuccessful' });
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True' });
    expect(conditionOf(found, 'Progressing')).toBeUndefined();
  });
}

async function isRefused(name: string, ...words: readonly string[]): Promise<void> {
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(condition).toMatchObject({ status: 'False' });
    for (const text of words) expect(condition?.message).toContain(text);
  });
}

async function configMap(name: string): Promise<KubernetesObject> {
  return await kubectl.get('configmap', name, 'default');
}

async function hasOwner(name: string, owner: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const found = await configMap(name);
    expect(found.metadata.labels?.['core.rukpak.io/owner-name']).toBe(owner);
    const { uid } = (await kubectl.get('bundledeployment', owner)).metadata;
    expect(found.metadata.annotations).toMatchObject({
      'core.rukpak.io/tracking-id': `${uid}:/ConfigMap:default/${name}`,
    });
    expect(found.metadata.ownerReferences ?? []).toEqual([]);
    return found;
  }, patiently);
}

async function annotate(name: string, text: string): Promise<void> {
  await kubectl.must(['annotate', '--overwrite', 'bundledeployment', name, text]);
}

async function eventsOf(name: string): Promise<readonly string[]> {
  const { uid } = (await kubectl.get('bundledeployment', name)).metadata;
  const events = await kubectl.list('events');
  return events
    .filter((event) => (event['involvedObject'] as { uid?: string }).uid === uid)
    .map((event) => `${String(event['reason'])}: ${String(event['message'])}`);
}

function isOurWrite({ verb, resource }: ApiRequest): boolean {
  return isWrite({ verb, resource }) && resource === 'configmaps';
}

async function writesWithin(milliseconds: number): Promise<readonly ApiRequest[]> {
  const position = await audit.position();
  await sleep(milliseconds);
  return (await audit.since(position)).filter(isOurWrite);
}

async function aStranger(name: string, ownerReferences?: readonly object[]): Promise<void> {
  const { metadata, ...rest } = aConfigMap(name, { a: 'theirs' }) as KubernetesObject;
  const labels = { stranger: 'true' };
  const references = ownerReferences === undefined ? {} : { ownerReferences };
  await kubectl.apply({ ...rest, metadata: { ...metadata, labels, ...references } });
}

describe('objects that exist already', () => {
  test('Never takes none, not even by the annotation', async () => {
    await aStranger('own-never');
    const objects = [aConfigMap('own-never', { a: 'ours' })];
    const annotations = { 'core.rukpak.io/adopt': '*' };
    await rollOut({ name: 'never', objects, spec: { adoption: 'Never' }, annotations });
    const wayOut = 'set spec.adoption to Unowned or Always in place of Never';
    await isRefused('never', 'it has no owner', wayOut);
    expect((await configMap('own-never'))['data']).toEqual({ a: 'theirs' });
  });

  test('Unowned takes what nobody has, Always what a controller has too', async () => {
    await aStranger('own-parent');
    const { uid = '' } = (await configMap('own-parent')).metadata;
    const parent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'own-parent', uid };
    await aStranger('own-free');
    await aStranger('own-held', [{ ...parent, controller: true }]);

    const objects = [aConfigMap('own-free', { a: 'ours' }), aConfigMap('own-held', { a: 'ours' })];
    await rollOut({ name: 'adopter', objects, spec: { adoption: 'Unowned' } });
    await isRefused('adopter', 'it is controlled by ConfigMap "own-parent"', 'spec.adoption');
    expect((await configMap('own-free'))['data']).toEqual({ a: 'theirs' });

    await rollOut({ name: 'adopter', objects, spec: { adoption: 'Always' } });
    await isUp('adopter');
    expect((await configMap('own-free'))['data']).toEqual({ a: 'ours' });
    expect((await hasOwner('own-held', 'adopter'))['data']).toEqual({ a: 'ours' });
  });
});

describe('two deployments that want one object', () => {
  const first = [aConfigMap('own-shared', { from: 'first' }), aConfigMap('own-rest')];
  const second = [aConfigMap('own-shared', { from: 'second' })];

  test('never fight: the first has it, whatever both adopt, also after a restart', async () => {
    const spec = { adoption: 'Always' };
    await rollOut({ name: 'first', objects: first, spec });
    await isUp('first');
    await rollOut({ name: 'second', objects: second, spec });
    const wayOut = 'kubectl annotate bundledeployment first core.rukpak.io/hand-over=second';
    await isRefused('second', 'it belongs to BundleDeployment "first"', wayOut);
    expect(await writesWithin(quiet)).toEqual([]);
    await system.kill();
    const position = await audit.position();
    await system.restart();
    await isUp('first');
    await sleep(quiet);
    expect((await audit.since(position)).filter(isOurWrite)).toEqual([]);
    await hasOwner('own-shared', 'first');
  });

  test('hand it over without deleting it, and both tell so', async () => {
    await rollOut({ name: 'first', objects: first });
    await isUp('first');
    await rollOut({ name: 'second', objects: second });
    await isRefused('second', 'belongs to BundleDeployment "first"');
    const { uid } = (await configMap('own-shared')).metadata;

    await annotate('first', `${handOver}=second`);
    const taken = await hasOwner('own-shared', 'second');
    expect(taken['data']).toEqual({ from: 'second' });
    expect(taken.metadata.uid).toBe(uid);
    await isUp('second');
    await isUp('first');
    const what = 'ConfigMap "own-shared" in namespace "default"';
    await eventually(async () => {
      const told = `ObjectHandedOver: Core transferred ${what} to BundleDeployment "second", and no longer manages it for this one`;
      expect((await eventsOf('first')).filter((event) => event === told)).toHaveLength(1);
      const heard = `ObjectTakenOver: Core transferred ${what} from BundleDeployment "first" to this one`;
      expect((await eventsOf('second')).filter((event) => event === heard)).toHaveLength(1);
    });
    expect(await writesWithin(quiet)).toEqual([]);

    // The new owner repairs it, the former one does not, and neither deletes it.
    const flags = ['--namespace=default', '--type=merge', '-p', '{"data":{"from":"nobody"}}'];
    await kubectl.must(['patch', 'configmap', 'own-shared', ...flags]);
    await eventually(async () => {
      expect((await configMap('own-shared'))['data']).toEqual({ from: 'second' });
    });
    await system.kill();
    const position = await audit.position();
    await system.restart();
    await isUp('first');
    await isUp('second');
    await sleep(quiet);
    expect((await audit.since(position)).filter(isOurWrite)).toEqual([]);

    await rollOut({ name: 'first', version: 2, objects: [aConfigMap('own-rest')] });
    await isUp('first');
    expect((await hasOwner('own-shared', 'second')).metadata.uid).toBe(uid);
  });

  test('make it again when the one that took it is gone', async () => {
    await rollOut({ name: 'first', objects: first, annotations: { [handOver]: 'second' } });
    await isUp('first');
    await rollOut({ name: 'second', objects: second });
    await hasOwner('own-shared', 'second');
    await isUp('second');
    await kubectl.deleteNamed('bundledeployment', ['second']);
    const made = await hasOwner('own-shared', 'first');
    expect(made['data']).toEqual({ from: 'first' });
    await isUp('first');
  });

  test('take it back when the one that took it leaves it behind', async () => {
    const annotations = { [handOver]: 'leaver' };
    await rollOut({ name: 'heir', objects: first, annotations, spec: { adoption: 'Unowned' } });
    await isUp('heir');
    await rollOut({ name: 'leaver', objects: second, spec: { deletionPolicy: 'Orphan' } });
    const { uid } = (await hasOwner('own-shared', 'leaver')).metadata;
    await isUp('heir');
    await kubectl.deleteNamed('bundledeployment', ['leaver']);
    const { metadata, ...content } = await hasOwner('own-shared', 'heir');
    expect(metadata.uid).toBe(uid);
    expect(content['data']).toEqual({ from: 'first' });
  });

  test('leave it where it is when they hand over to one another', async () => {
    await rollOut({ name: 'first', objects: first, annotations: { [handOver]: 'second' } });
    await isUp('first');
    await rollOut({ name: 'second', objects: second, annotations: { [handOver]: 'first' } });
    await eventually(async () => {
      const { status } = (await kubectl.get('bundledeployment', 'second')) as { status?: unknown };
      expect(status).toMatchObject({ activeBundle: expect.stringMatching(/^second-/) });
    });
    expect(await writesWithin(quiet)).toEqual([]);
    await hasOwner('own-shared', 'first');
  });
});

describe('an object that moves from one bundle to another', () => {
  const shared = aConfigMap('own-moved', { a: '1' });
  const [rest, other] = [aConfigMap('own-rest'), aConfigMap('own-other')];

  test.each(['giver first', 'taker first'])('is never deleted, the %s', async (order) => {
    await rollOut({ name: 'giver', objects: [shared, rest] }, { name: 'taker', objects: [other] });
    await isUp('giver');
    await isUp('taker');
    const { uid } = (await configMap('own-moved')).metadata;
    const changes = [
      { name: 'giver', version: 2, objects: [rest], annotations: { [handOver]: 'taker' } },
      { name: 'taker', version: 2, objects: [other, shared] },
    ];
    await rollOut(...(order === 'giver first' ? changes : changes.toReversed()));
    expect((await hasOwner('own-moved', 'taker')).metadata.uid).toBe(uid);
    await isUp('giver');
    await isUp('taker');
    expect((await hasOwner('own-moved', 'taker')).metadata.uid).toBe(uid);
  });

  const broken = {
    template: {
      spec: {
        provisionerClassName: 'core-rukpak-io-plain',
        source: { type: 'image', image: { ref: '127.0.0.1:1/none:v1' } },
      },
    },
  };

  test('is kept while the one that may take it is not ready, then goes if that wants it not', async () => {
    await rollOut({ name: 'giver', objects: [shared, rest] });
    await isUp('giver');
    await rollOut({ name: 'taker', objects: [other], spec: broken });
    const annotations = { [handOver]: 'taker' };
    await rollOut({ name: 'giver', version: 2, objects: [rest], annotations });
    await eventually(async () => {
      const giver = await kubectl.get('bundledeployment', 'giver');
      expect(conditionOf(giver, 'Progressing')).toMatchObject({
        status: 'False',
        reason: 'PruneHeld',
        message: expect.stringContaining(
          'not deleted: ConfigMap/default/own-moved: BundleDeployment "taker" may adopt them',
        ),
      });
    });
    expect(await kubectl.exists('configmap', 'own-moved', 'default')).toBe(true);
    await rollOut({ name: 'taker', objects: [other] });
    await isUp('taker');
    await isUp('giver');
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'own-moved', 'default')).toBe(false);
    });
  });

  test('outlives its giver while the one that may take it has another spec to roll out', async () => {
    await rollOut({ name: 'giver', objects: [shared], annotations: { [handOver]: 'taker' } });
    await isUp('giver');
    const { uid } = (await configMap('own-moved')).metadata;
    await rollOut({ name: 'taker', objects: [shared], spec: broken });
    await kubectl.must(['delete', 'bundledeployment', 'giver', '--wait=false']);
    await eventually(async () => {
      const giver = await kubectl.get('bundledeployment', 'giver');
      expect(conditionOf(giver, 'Progressing')).toMatchObject({
        reason: 'Deleting',
        message: expect.stringContaining('BundleDeployment "taker" may adopt them'),
      });
    });
    await rollOut({ name: 'taker', objects: [shared] });
    expect((await hasOwner('own-moved', 'taker')).metadata.uid).toBe(uid);
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', 'giver')).toBe(false);
    });
    expect((await hasOwner('own-moved', 'taker')).metadata.uid).toBe(uid);
  });

  test('is kept while the one that may take it does not exist, and goes to it at its creation', async () => {
    await rollOut({ name: 'giver', objects: [shared, rest] });
    await isUp('giver');
    const { uid } = (await configMap('own-moved')).metadata;
    const annotations = { [handOver]: 'taker' };
    await rollOut({ name: 'giver', version: 2, objects: [rest], annotations });
    await eventually(async () => {
      const giver = await kubectl.get('bundledeployment', 'giver');
      expect(conditionOf(giver, 'Progressing')).toMatchObject({
        reason: 'PruneHeld',
        message: expect.stringContaining('"taker" may adopt them, and does not exist. Create it'),
      });
    });
    await rollOut({ name: 'taker', objects: [shared] });
    expect((await hasOwner('own-moved', 'taker')).metadata.uid).toBe(uid);
    await isUp('taker');
    await isUp('giver');
  });

  test('may be taken by who takes everything, once its owner is known to want it no more', async () => {
    await rollOut({ name: 'giver', objects: [shared] });
    await isUp('giver');
    await rollOut({ name: 'taker', objects: [shared], spec: { adoption: 'Always' } });
    await isRefused('taker', 'belongs to BundleDeployment "giver"');
    await rollOut({ name: 'giver', version: 2, objects: [rest] });
    await hasOwner('own-moved', 'taker');
    await isUp('taker');
    await isUp('giver');
  });
});

test('the howto does what it says', { tags: 'long' }, async () => {
  const printed = await followHowto({ page: 'ownership.md', kubectl, kubeconfig }, 'A session');
  expect(printed).toContain('core.rukpak.io/hand-over=ownership-prices');
  expect(printed).toContain('{"apple":"2"}');
  await eventually(async () => {
    expect((await eventsOf('ownership-shop')).join()).toContain('ObjectHandedOver');
  });
});

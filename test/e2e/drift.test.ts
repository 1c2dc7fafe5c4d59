import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { type ApiRequest, AuditLog, isWrite } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aDeployment } from '../helpers/objects.ts';
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
    expect(await kubectl.list('deployments,configmaps', ownerLabel)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  await eventually(async () => {
    const names = ['--namespace=rukpak-system', 'drift-content', '--ignore-not-found'];
    await kubectl.must(['delete', 'configmap', ...names]);
  });
  await system.stop();
});

const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';

interface Wanted {
  readonly name: string;
  readonly version?: number;
  readonly objects: readonly object[];
  readonly drift?: object;
}

/** Creates or upgrades a BundleDeployment. */
async function publish({ name, version = 1, objects, drift }: Wanted): Promise<void> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `drift-${name}`, version, files });
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  const spec = { ...deployment.spec, ...(drift === undefined ? {} : { drift }) };
  await kubectl.apply({ ...deployment, spec });
}

/** Creates or upgrades a BundleDeployment and waits until that is installed. */
async function rollOut(wanted: Wanted): Promise<void> {
  const { name } = wanted;
  await publish(wanted);
  const { generation } = (await kubectl.get('bundledeployment', name)).metadata;
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(found['status']).toMatchObject({ observedGeneration: generation });
    expect(conditionOf(found, 'HasValidBundle')).toMatchObject({ reason: 'UnpackSuccessful' });
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function setDrift(name: string, drift: object | null): Promise<void> {
  const text = JSON.stringify({ spec: { drift } });
  await kubectl.must(['patch', 'bundledeployment', name, '--type=merge', '-p', text]);
}

async function isObserved(name: string): Promise<void> {
  await eventually(async () => {
    const { metadata, ...found } = await kubectl.get('bundledeployment', name);
    expect(found['status']).toMatchObject({ observedGeneration: metadata.generation });
  });
}

async function specOf(name: string): Promise<{ replicas?: number; template?: unknown }> {
  return (await kubectl.get('deployment', name, 'default'))['spec'] as object;
}

async function dataOf(name: string): Promise<unknown> {
  return (await kubectl.get('configmap', name, 'default'))['data'];
}

async function edit(name: string, data: object): Promise<void> {
  const text = JSON.stringify({ data });
  const flags = ['--namespace=default', '--field-manager=stranger', '--type=merge', '-p', text];
  await kubectl.must(['patch', 'configmap', name, ...flags]);
}

async function scale(name: string, replicas: number): Promise<void> {
  await kubectl.must([
    'scale',
    'deployment',
    name,
    '--namespace=default',
    `--replicas=${replicas}`,
  ]);
}

async function driftOf(name: string) {
  return conditionOf(await kubectl.get('bundledeployment', name), 'Drifted');
}

async function eventsOf(name: string, reason: string): Promise<readonly string[]> {
  const { uid } = (await kubectl.get('bundledeployment', name)).metadata;
  const events = await kubectl.list('events');
  return events
    .filter((event) => event['reason'] === reason && subjectOf(event) === uid)
    .map((event) => String(event['message']));
}

function subjectOf(event: KubernetesObject): string | undefined {
  return (event['involvedObject'] as { uid?: string }).uid;
}

function isOurWrite(request: ApiRequest): boolean {
  return isWrite(request) && ['deployments', 'configmaps'].includes(request.resource);
}

/** What is written while nothing should be. */
async function writesWithin(milliseconds: number): Promise<readonly ApiRequest[]> {
  const position = await audit.position();
  await sleep(milliseconds);
  return (await audit.since(position)).filter(isOurWrite);
}

const replicasIgnored = {
  ignore: [{ group: 'apps', kind: 'Deployment', paths: ['/spec/replicas'] }],
};

describe('fields that are left to others', () => {
  test('keep what kubectl scale and an autoscaler set, through versions and a restart', async () => {
    const web = aDeployment('drift-web');
    await rollOut({ name: 'scaled', objects: [web], drift: replicasIgnored });
    expect(await specOf('drift-web')).toMatchObject({ replicas: 1 });

    await scale('drift-web', 3);
    expect(await writesWithin(quiet)).toEqual([]);
    expect(await specOf('drift-web')).toMatchObject({ replicas: 3 });

    const next = aDeployment('drift-web', { image: 'example.invalid/none:2' });
    await rollOut({ name: 'scaled', version: 2, objects: [next], drift: replicasIgnored });
    expect(await specOf('drift-web')).toMatchObject({
      replicas: 3,
      template: { spec: { containers: [{ image: 'example.invalid/none:2' }] } },
    });

    await system.kill();
    await scale('drift-web', 2);
    const position = await audit.position();
    await system.restart();
    await sleep(quiet);
    expect((await audit.since(position)).filter(isOurWrite)).toEqual([]);
    expect(await specOf('drift-web')).toMatchObject({ replicas: 2 });

    const last = aDeployment('drift-web', { image: 'example.invalid/none:3' });
    await rollOut({ name: 'scaled', version: 3, objects: [last], drift: replicasIgnored });
    expect(await specOf('drift-web')).toMatchObject({
      replicas: 2,
      template: { spec: { containers: [{ image: 'example.invalid/none:3' }] } },
    });
  });

  test('keep the value of the first version while nobody else has set them', async () => {
    await rollOut({
      name: 'still',
      objects: [aDeployment('drift-still')],
      drift: replicasIgnored,
    });
    const { metadata, ...rest } = aDeployment('drift-still', {
      image: 'example.invalid/none:2',
    }) as KubernetesObject & { spec: object };
    const next = { ...rest, metadata, spec: { ...rest.spec, replicas: 4 } };
    await rollOut({ name: 'still', version: 2, objects: [next], drift: replicasIgnored });
    expect(await specOf('drift-still')).toMatchObject({ replicas: 1 });
  });

  test('are left and taken back by a change of the rules alone', async () => {
    await rollOut({ name: 'ruled', objects: [aConfigMap('drift-ruled', { a: '1', b: '1' })] });
    await setDrift('ruled', { ignore: [{ kind: 'ConfigMap', paths: ['/data/a'] }] });
    await isObserved('ruled');
    await eventually(async () => {
      await edit('drift-ruled', { a: 'theirs' });
      expect(await writesWithin(1000)).toEqual([]);
      expect(await dataOf('drift-ruled')).toEqual({ a: 'theirs', b: '1' });
    });
    await edit('drift-ruled', { b: 'theirs' });
    await eventually(async () => {
      expect(await dataOf('drift-ruled')).toEqual({ a: 'theirs', b: '1' });
    });
    await setDrift('ruled', null);
    await eventually(async () => {
      expect(await dataOf('drift-ruled')).toEqual({ a: '1', b: '1' });
    });
  });

  test('may be annotations, items of lists and their fields', async () => {
    const drift = {
      ignore: [
        { paths: ['/metadata/annotations/example.com~1note'] },
        { kind: 'Deployment', paths: ['/spec/template/spec/containers/*/image'] },
        { kind: 'Deployment', paths: ['/spec/template/spec/containers/0/args/1'] },
      ],
    };
    const args = { args: ['serve', 'slow', 'v1'] };
    const web = aDeployment('drift-deep', args) as KubernetesObject;
    const annotations = { 'example.com/note': 'ours', 'example.com/other': 'ours' };
    const objects = [{ ...web, metadata: { ...web.metadata, annotations } }];
    await rollOut({ name: 'deep', objects, drift });
    const theirs = [
      { op: 'replace', path: '/metadata/annotations/example.com~1note', value: 'theirs' },
      {
        op: 'replace',
        path: '/spec/template/spec/containers/0/image',
        value: 'example.invalid/x:9',
      },
      { op: 'replace', path: '/spec/template/spec/containers/0/args/1', value: 'fast' },
    ];
    const flags = ['--namespace=default', '--type=json', '-p', JSON.stringify(theirs)];
    await kubectl.must(['patch', 'deployment', 'drift-deep', ...flags]);
    expect(await writesWithin(quiet)).toEqual([]);

    const next = aDeployment('drift-deep', { args: ['serve', 'slow', 'v2'] }) as KubernetesObject;
    const upgraded = [{ ...next, metadata: { ...next.metadata, annotations } }];
    await rollOut({ name: 'deep', version: 2, objects: upgraded, drift });
    const found = await kubectl.get('deployment', 'drift-deep', 'default');
    expect(found.metadata.annotations).toMatchObject({
      'example.com/note': 'theirs',
      'example.com/other': 'ours',
    });
    expect(found['spec']).toMatchObject({
      template: {
        spec: { containers: [{ image: 'example.invalid/x:9', args: ['serve', 'fast', 'v2'] }] },
      },
    });
  });

  test('are created with everything when the object was deleted', async () => {
    await rollOut({ name: 'gone', objects: [aDeployment('drift-gone')], drift: replicasIgnored });
    await scale('drift-gone', 3);
    await kubectl.deleteNamed('deployment', ['drift-gone'], { namespace: 'default' });
    await eventually(async () => {
      expect(await specOf('drift-gone')).toMatchObject({ replicas: 1 });
    });
  });
});

describe('mode Warn', () => {
  const warn = { mode: 'Warn' };

  test('reports changed and deleted objects, and changes nothing, also across a restart', async () => {
    const objects = [aConfigMap('drift-a', { a: '1' }), aConfigMap('drift-b', { b: '1' })];
    await rollOut({ name: 'warned', objects, drift: warn });
    expect(await driftOf('warned')).toBeUndefined();

    await edit('drift-a', { a: 'theirs' });
    await kubectl.deleteNamed('configmap', ['drift-b'], { namespace: 'default' });
    const both =
      '2 objects differ from the bundle: ConfigMap/default/drift-a (data.a), ' +
      'ConfigMap/default/drift-b (missing). Core reverts nothing while spec.drift.mode is Warn';
    const expected = { status: 'True', reason: 'DriftDetected', message: both };
    await eventually(async () => expect(await driftOf('warned')).toMatchObject(expected));
    expect(await writesWithin(quiet)).toEqual([]);

    await system.kill();
    const position = await audit.position();
    await system.restart();
    await sleep(quiet);
    expect((await audit.since(position)).filter(isOurWrite)).toEqual([]);
    expect(await driftOf('warned')).toMatchObject(expected);
    await eventually(async () => {
      const told = await eventsOf('warned', 'DriftDetected');
      expect(told.filter((message) => message === both)).toHaveLength(1);
    });

    await edit('drift-a', { a: '1' });
    const one = '1 object differs from the bundle: ConfigMap/default/drift-b (missing). ';
    await eventually(async () => {
      expect((await driftOf('warned'))?.message).toContain(one);
    });
    await setDrift('warned', null);
    await eventually(async () => {
      expect(await dataOf('drift-b')).toEqual({ b: '1' });
      expect(await driftOf('warned')).toBeUndefined();
    });
  });

  test('a new version applies its changes, and leaves other drift', async () => {
    const objects = [aConfigMap('drift-a', { a: '1', k: '1' }), aConfigMap('drift-b', { b: '1' })];
    await rollOut({ name: 'warned', objects, drift: warn });
    await edit('drift-a', { a: 'theirs' });
    await edit('drift-b', { b: 'theirs' });
    await eventually(async () => {
      expect((await driftOf('warned'))?.message).toContain('2 objects differ');
    });
    const next = [aConfigMap('drift-a', { a: '1', k: '2' }), aConfigMap('drift-b', { b: '1' })];
    await rollOut({ name: 'warned', version: 2, objects: next, drift: warn });
    expect(await dataOf('drift-a')).toEqual({ a: '1', k: '2' });
    expect(await dataOf('drift-b')).toEqual({ b: 'theirs' });
    await eventually(async () => {
      expect((await driftOf('warned'))?.message).toContain('1 object differs');
    });
  });
});

test('mode Off leaves everything alone and tells nothing', async () => {
  const objects = [aConfigMap('drift-a', { a: '1' }), aConfigMap('drift-b', { b: '1' })];
  await rollOut({ name: 'off', objects, drift: { mode: 'Off' } });
  await edit('drift-a', { a: 'theirs' });
  expect(await writesWithin(quiet)).toEqual([]);
  expect(await driftOf('off')).toBeUndefined();
  expect(await eventsOf('off', 'DriftDetected')).toEqual([]);
  await setDrift('off', { mode: 'Correct' });
  await eventually(async () => expect(await dataOf('drift-a')).toEqual({ a: '1' }));
});

test('what is installed is repaired while the next version is refused, also after a restart', async () => {
  const [mine, theirs] = [aConfigMap('drift-mine', { key: 'mine' }), aConfigMap('drift-theirs')];
  await kubectl.apply(theirs);
  const wanted = { name: 'drift-refused', objects: [mine] };
  await rollOut(wanted);
  await publish({ ...wanted, version: 2, objects: [mine, theirs] });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'drift-refused');
    expect(conditionOf(found, 'Installed')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('"drift-theirs"') as string,
    });
  });
  await edit('drift-mine', { key: 'edited' });
  await eventually(async () => expect(await dataOf('drift-mine')).toEqual({ key: 'mine' }));
  await system.kill();
  await system.restart();
  await kubectl.deleteNamed('configmap', ['drift-mine'], {});
  await eventually(async () => expect(await dataOf('drift-mine')).toEqual({ key: 'mine' }));
  await kubectl.deleteNamed('configmap', ['drift-theirs'], {});
});

describe('fields that others set too', () => {
  test('are put back by one request, and that is told once, with who set them', async () => {
    await rollOut({ name: 'shared', objects: [aConfigMap('drift-shared', { a: '1', b: '1' })] });
    const position = await audit.position();
    await edit('drift-shared', { a: 'theirs' });
    await eventually(async () => {
      expect(await dataOf('drift-shared')).toEqual({ a: '1', b: '1' });
    });
    // A request is in the log a moment after it is done.
    await eventually(async () => {
      const written = (await audit.since(position)).filter(isOurWrite);
      expect(written).toMatchObject([{ verb: 'patch', resource: 'configmaps' }]);
    });
    await edit('drift-shared', { a: 'theirs' });
    await eventually(async () => {
      expect(await dataOf('drift-shared')).toEqual({ a: '1', b: '1' });
      expect(await eventsOf('shared', 'FieldsPutBack')).toEqual([
        expect.stringMatching(
          /^ConfigMap "drift-shared" in namespace "default": data\.a was changed by "stranger" at \S+Z, and core reverted that\. /,
        ),
      ]);
    });
  });

  test('are put back and told of as well where nobody ran when they were set', async () => {
    await rollOut({ name: 'away', objects: [aConfigMap('drift-away', { a: '1' })] });
    await system.kill();
    await edit('drift-away', { a: 'theirs' });
    await system.restart();
    await eventually(async () => {
      expect(await dataOf('drift-away')).toEqual({ a: '1' });
      expect(await eventsOf('away', 'FieldsPutBack')).toEqual([
        expect.stringContaining('data.a was changed by "stranger" at '),
      ]);
    });
  });

  test('are told of when a new version takes them', async () => {
    await rollOut({ name: 'taking', objects: [aConfigMap('drift-taken', { a: '1' })] });
    await edit('drift-taken', { late: 'theirs', other: 'theirs' });
    const next = [aConfigMap('drift-taken', { a: '2', late: 'ours' })];
    await rollOut({ name: 'taking', version: 2, objects: next });
    expect(await dataOf('drift-taken')).toEqual({ a: '2', late: 'ours', other: 'theirs' });
    await eventually(async () => {
      expect(await eventsOf('taking', 'FieldsTaken')).toEqual([
        expect.stringMatching(
          / data\.late was set by "stranger" at \S+Z, and core overwrote that /,
        ),
      ]);
    });
  });

  test('are not reported while both set equal values', async () => {
    await rollOut({ name: 'agreed', objects: [aConfigMap('drift-agreed', { a: '1' })] });
    await edit('drift-agreed', { b: '2' });
    const next = [aConfigMap('drift-agreed', { a: '1', b: '2' })];
    await rollOut({ name: 'agreed', version: 2, objects: next });
    expect(await eventsOf('agreed', 'FieldsTaken')).toEqual([]);
  });
});

test('the howto does what it says', { tags: 'long' }, async () => {
  const printed = await followHowto({ page: 'drift.md', kubectl, kubeconfig }, 'A session');
  await eventually(async () => {
    const [told] = await eventsOf('drift-web', 'FieldsPutBack');
    expect(told).toContain('data.colour was changed by "kubectl-patch"');
  });
  expect(printed).toContain('replicas: 3');
  expect(printed).toContain(
    '1 object differs from the bundle: ConfigMap/default/drift-settings (data.colour). ',
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { someHealthRules } from '../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { DriftDetector } from '../drift/drift.ts';
import { noteDrift } from '../drift/drift-policy.ts';
import { Inventory } from '../inventory/inventory.ts';
import type { CheckedObject, DesiredObject } from '../objects/desired.ts';
import { isNamespaceOrDefinition } from '../objects/order.ts';
import { recordWithout } from '../state/applied-record.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { stageOf } from './stage-order.ts';
import {
  holdUpBeforeFirst,
  readinessOf,
  runStages,
  type StagesResult,
  stagesOf,
  stagesToRun,
} from './stages.ts';

function aConfigMap(name: string, stage?: number): DesiredObject {
  return anObject(['v1', 'ConfigMap'], name, stage);
}

function anObject(type: readonly [string, string], name: string, stage?: number): DesiredObject {
  const [apiVersion, kind] = type;
  const annotations = stage === undefined ? {} : { 'core.rukpak.io/stage': String(stage) };
  return aDesiredObject({ apiVersion, kind, metadata: { name, annotations } });
}

function toSend(desired: DesiredObject): CheckedObject {
  const ownership = { dropControllers: false, takeOver: false, createOnly: false };
  return { desired, live: undefined, repair: false, ...ownership };
}

interface Cluster {
  readonly sent: DesiredObject[];
  /** Names of the objects that are not healthy. */
  readonly unhealthy: Set<string>;
  readonly refused: Set<string>;
}

function aCluster(): Cluster {
  return { sent: [], unhealthy: new Set(), refused: new Set() };
}

interface Scenario {
  readonly cluster: Cluster;
  readonly waits?: boolean;
}

/** Applies unsent objects, as the engine does. */
async function run(objects: readonly DesiredObject[], scenario: Scenario): Promise<StagesResult> {
  const { cluster, waits = false } = scenario;
  const pending = objects.filter((object) => !cluster.sent.includes(object)).map(toSend);
  return await runStages(stagesOf({ objects, pending, waits }), {
    operation: 'install',
    apply: async ({ desired }) => {
      await Promise.resolve();
      if (cluster.refused.has(desired.key.name)) {
        throw new ApiError(403, { message: `${desired.key.name} is forbidden` });
      }
      if (waits)
        expect(lowerOf(desired, objects).some((lower) => problemOf(lower, cluster))).toBe(false);
      cluster.sent.push(desired);
    },
    definitionsWritten: async ({ objects: members }) => {
      cluster.sent.push(aConfigMap(`laid for ${members.length}`));
      return [];
    },
    problemOf: waits ? (object) => problemOf(object, cluster) : undefined,
  });
}

function problemOf({ key }: DesiredObject, { unhealthy }: Cluster): string | undefined {
  return unhealthy.has(key.name) ? `${key.name} is not ready` : undefined;
}

function lowerOf(object: DesiredObject, objects: readonly DesiredObject[]): DesiredObject[] {
  return objects.filter((other) => stageOf(other) < stageOf(object));
}

function names(cluster: Cluster): string[] {
  return cluster.sent.map(({ key }) => key.name).filter((name) => !name.startsWith('laid'));
}

describe('a set that asks for no stages', () => {
  test('is one stage: namespaces and CRDs, then kind after kind', async () => {
    const cluster = aCluster();
    const set = [
      anObject(['example.com/v1', 'Widget'], 'widget'),
      anObject(['apps/v1', 'Deployment'], 'deployment'),
      anObject(['v1', 'PersistentVolumeClaim'], 'claim'),
      anObject(['rbac.authorization.k8s.io/v1', 'Role'], 'role'),
      anObject(['v1', 'Namespace'], 'namespace'),
    ];
    await run(set, { cluster });
    expect(cluster.sent.map(({ key }) => key.name)).toEqual([
      'namespace',
      'laid for 5',
      'claim',
      'role',
      'deployment',
      'widget',
    ]);
  });

  test('goes on with the others where one is refused', async () => {
    const cluster = aCluster();
    cluster.refused.add('role');
    const set = [
      anObject(['apps/v1', 'Deployment'], 'deployment'),
      anObject(['rbac.authorization.k8s.io/v1', 'Role'], 'role'),
    ];
    const { failures } = await run(set, { cluster });
    expect(failures).toHaveLength(1);
    expect(names(cluster)).toEqual(['deployment']);
  });
});

describe('a set with stages', () => {
  test('applies the lowest first, each with what its kinds need', async () => {
    const cluster = aCluster();
    await run([aConfigMap('c', 7), aConfigMap('a', -100), aConfigMap('b')], { cluster });
    const sent = cluster.sent.map(({ key }) => key.name);
    expect(sent).toEqual(['laid for 1', 'a', 'laid for 1', 'b', 'laid for 1', 'c']);
  });

  test('ends with a stage of which something is refused', async () => {
    const cluster = aCluster();
    cluster.refused.add('a');
    const set = [aConfigMap('a', 1), aConfigMap('b', 1), aConfigMap('c', 2)];
    const { failures } = await run(set, { cluster });
    expect(failures.map(({ object }) => object.key.name)).toEqual(['a']);
    expect(names(cluster)).toEqual(['b']);
  });

  test('does not wait for health unless asked', async () => {
    const cluster = aCluster();
    cluster.unhealthy.add('a');
    await run([aConfigMap('a', 1), aConfigMap('b', 2)], { cluster });
    expect(names(cluster)).toEqual(['a', 'b']);
  });
});

describe('where stages wait', () => {
  test('the next one begins when the one before is ready, and nothing is sent twice', async () => {
    const cluster = aCluster();
    const set = [aConfigMap('a', 1), aConfigMap('b', 2), aConfigMap('c', 3)];
    cluster.unhealthy.add('a').add('c');
    const message = 'stage 2 waits for stage 1: a is not ready';
    for (const _ of ['once', 'again']) {
      const { blocked } = await run(set, { cluster, waits: true });
      expect(blocked).toEqual({ reason: 'WaitingForStage', message });
      expect(names(cluster)).toEqual(['a']);
    }
    cluster.unhealthy.delete('a');
    // Nothing waits for the last stage.
    await expect(run(set, { cluster, waits: true })).resolves.toEqual({ failures: [] });
    expect(names(cluster)).toEqual(['a', 'b', 'c']);
  });

  test('built-in stages count: workloads wait for what they use', async () => {
    const cluster = aCluster();
    cluster.unhealthy.add('service');
    const set = [
      anObject(['apps/v1', 'Deployment'], 'web'),
      anObject(['v1', 'Service'], 'service'),
    ];
    const { blocked } = await run(set, { cluster, waits: true });
    expect(blocked?.message).toBe('stage 0 waits for stage -10: service is not ready');
  });

  test('the first problems are told, and how many more there are', async () => {
    const cluster = aCluster();
    const set = ['a', 'b', 'c', 'd', 'e'].map((name) => aConfigMap(name, 1));
    for (const { key } of set) cluster.unhealthy.add(key.name);
    const { blocked } = await run([...set, aConfigMap('z', 5)], { cluster, waits: true });
    expect(blocked?.message).toBe(
      'stage 5 waits for stage 1: a is not ready; b is not ready; c is not ready; and 2 more',
    );
  });

  test('nothing waits for a stage that comes later, or for one after which all is done', async () => {
    const cluster = aCluster();
    cluster.unhealthy.add('b').add('c');
    const set = [aConfigMap('a', 1), aConfigMap('b', 2), aConfigMap('c', 3)];
    cluster.sent.push(...set.slice(1));
    await expect(run(set, { cluster, waits: true })).resolves.toEqual({ failures: [] });
  });
});

test('that nothing can be sent yet is known before any request', () => {
  const cluster = aCluster();
  cluster.unhealthy.add('a');
  const set = [aConfigMap('a', 1), aConfigMap('b', 2)];
  const judge = (object: DesiredObject) => problemOf(object, cluster);
  const stages = (pending: readonly DesiredObject[]) =>
    stagesOf({ objects: set, pending: pending.map(toSend), waits: true });
  expect(holdUpBeforeFirst(stages(set.slice(1)), judge)?.message).toContain('waits for stage 1');
  expect(holdUpBeforeFirst(stages(set), judge)).toBeUndefined();
  cluster.unhealthy.clear();
  expect(holdUpBeforeFirst(stages(set.slice(1)), judge)).toBeUndefined();
});

const kinds = [
  ['v1', 'Namespace'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['v1', 'ServiceAccount'],
  ['v1', 'ConfigMap'],
  ['v1', 'PersistentVolumeClaim'],
  ['apps/v1', 'Deployment'],
  ['batch/v1', 'Job'],
  ['example.com/v1', 'Widget'],
] as const;

const anySet = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      stage: fc.option(fc.integer({ min: -30, max: 30 }), { nil: undefined }),
      unhealthy: fc.boolean(),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((items) =>
    items.map(({ kind, stage, unhealthy }, index) => ({
      object: anObject(kind, `object-${index}`, stage),
      unhealthy,
    })),
  );

test('no object is sent before all of lower stages, whatever the set', async () => {
  await fc.assert(
    fc.asyncProperty(anySet, fc.boolean(), async (items, waits) => {
      const cluster = aCluster();
      const objects = items.map(({ object }) => object);
      for (const { object, unhealthy } of items) {
        if (unhealthy) cluster.unhealthy.add(object.key.name);
      }
      const isStaged = waits || objects.some(({ object }) => hasAnnotation(object));
      // One more object becomes healthy per turn: in the end all must be sent.
      for (let turn = 0; turn <= objects.length; turn += 1) {
        await run(objects, { cluster, waits });
        if (isStaged) expectInOrder(objects, cluster, waits);
        const [first] = cluster.unhealthy;
        const sent = names(cluster);
        const healed = [...cluster.unhealthy].find((name) => sent.includes(name)) ?? first;
        if (healed !== undefined) cluster.unhealthy.delete(healed);
      }
      expect(names(cluster).toSorted()).toEqual(objects.map(({ key }) => key.name).toSorted());
    }),
    { numRuns: 200 },
  );
});

function hasAnnotation({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.['core.rukpak.io/stage'] !== undefined;
}

/**
 * Every sent object comes after all objects of lower stages, and after its own stage's namespaces
 * and CRDs.
 */
function expectInOrder(objects: readonly DesiredObject[], cluster: Cluster, waits: boolean): void {
  const sent = cluster.sent.filter((object) => objects.includes(object));
  for (const [position, object] of sent.entries()) {
    const before = sent.slice(0, position);
    expect(before).toEqual(expect.arrayContaining(lowerOf(object, objects)));
    const after = sent.slice(position + 1).filter((other) => stageOf(other) === stageOf(object));
    if (!isNamespaceOrDefinition(object.resource)) {
      expect(after.filter(({ resource }) => isNamespaceOrDefinition(resource))).toEqual([]);
    }
  }
  expect(new Set(sent).size).toBe(sent.length);
  if (!waits) expect(sent).toHaveLength(objects.length);
}

describe('foundation stage', () => {
  function aChecked(kind: string, name: string, annotations?: object): CheckedObject {
    const apiVersion = kind === 'CustomResourceDefinition' ? 'apiextensions.k8s.io/v1' : 'v1';
    const metadata = { name, ...(annotations && { annotations: { ...annotations } }) };
    const desired = aDesiredObject({ apiVersion, kind, metadata });
    const unchecked = { live: undefined, repair: false, dropControllers: false, takeOver: false };
    return { desired, ...unchecked, createOnly: true };
  }

  const pending = [
    aChecked('Namespace', 'ns'),
    aChecked('CustomResourceDefinition', 'crd'),
    aChecked('CustomResourceDefinition', 'late', { 'core.rukpak.io/stage': '5' }),
    aChecked('ConfigMap', 'cm'),
  ];
  const content = { objects: pending.map(({ desired }) => desired), pending, waits: false };

  function names(foundationOnly: boolean): string[][] {
    return stagesToRun({ foundationOnly }, content).map((stage) =>
      stage.pending.map(({ desired }) => desired.key.name),
    );
  }

  test('before hooks there are namespaces and CRDs, without those that have a stage of their own', () => {
    expect(names(true)).toEqual([['ns', 'crd']]);
  });

  test('then there is everything, stage after stage', () => {
    expect(names(false)).toEqual([['ns', 'crd'], ['cm'], ['late']]);
  });
});

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop' },
});

const missing = '(/v1, Kind=ConfigMap)(shop/settings): configmaps "settings" not found';

/** The message of a later stage about an object that somebody deleted, by spec.drift.mode. */
function problemAfterDeletion(mode: 'Warn' | 'Off') {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const [inventory, owners] = [new Inventory(), new OwnerStates(clock)];
  const [rules, notify] = [someHealthRules(), () => undefined];
  const drift = new DriftDetector({ inventory, owners, rules, clock, signal, notify });
  const deployment = aStoredDeployment();
  const owner = { ...deployment, spec: { ...deployment.spec, drift: { mode } } };
  const run = { owner, waitForReady: true, state: owners.of('demo') };
  noteDrift(run, { inventory, drift }, [{ desired, live: undefined, repair: true }]);
  const upgrade = [{ desired, live: undefined, repair: false }];
  return readinessOf(run, upgrade, drift)?.(desired);
}

test.each(['Warn', 'Off'] as const)(
  'a stage that waits for what others deleted says that mode %s lets it be',
  (mode) => {
    expect(problemAfterDeletion(mode)).toBe(
      `${missing} (others changed or deleted it, and core does not revert that while spec.drift.mode is ${mode})`,
    );
  },
);

test.each([
  ['waits for an object of the deployment', 'demo', missing],
  ['waits for none that another deployment has, whose health wakes that one', 'other', undefined],
])('a stage %s', (_, holder, problem) => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const [inventory, owners] = [new Inventory(), new OwnerStates(clock)];
  const [rules, notify] = [someHealthRules(), () => undefined];
  const drift = new DriftDetector({ inventory, owners, rules, clock, signal, notify });
  owners.of(holder).setRecord(recordWithout(desired, holder));
  const run = { owner: aStoredDeployment(), waitForReady: true, state: owners.of('demo') };
  const upgrade = [{ desired, live: undefined, repair: false }];
  expect(readinessOf(run, upgrade, drift)?.(desired)).toBe(problem);
});

import { describe, expect, test } from 'vitest';
import type { Condition } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { renderingOf } from '../../apply/index.ts';
import { wantedBundle } from '../bundles.ts';

function depending(name: string, ...dependencies: readonly string[]): BundleDeployment {
  const { spec, ...rest } = aStoredDeployment({ name });
  return { ...rest, spec: { ...spec, dependsOn: dependencies.map((each) => ({ name: each })) } };
}

interface Told {
  readonly type: string;
  readonly status?: Condition['status'];
  readonly message?: string;
}

function conditions(...told: readonly Told[]): Condition[] {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return told.map(({ type, status = 'True', message = '' }) => {
    return { type, status, message, reason: 'Reason', lastTransitionTime };
  });
}

const good = [{ type: 'Installed' }, { type: 'Healthy' }];

/** A dependency: installed and healthy unless the test says otherwise. */
function aDependency(
  changes: Partial<BundleDeployment['status']> & { metadata?: object } = {},
): BundleDeployment {
  const { metadata, ...status } = changes;
  const deployment = aStoredDeployment({ name: 'db', metadata: { generation: 3, ...metadata } });
  const activeBundle = wantedBundle(deployment);
  return {
    ...deployment,
    status: { observedGeneration: 3, activeBundle, conditions: conditions(...good), ...status },
  };
}

/** The record of a config before the present one. */
const anotherConfig = {
  bundle: 'db',
  uid: 'u',
  rendering: renderingOf({ ...aStoredDeployment().spec, config: { size: 'small' } }),
};

function aFixture(...deployments: readonly BundleDeployment[]): BundleDeploymentFixture {
  const [subject = aStoredDeployment(), ...others] = deployments;
  const fixture = new BundleDeploymentFixture(subject);
  fixture.have(aBundleOf(v1));
  for (const other of others) fixture.change(other);
  return fixture;
}

async function progressing(fixture: BundleDeploymentFixture): Promise<string | undefined> {
  await fixture.reconcile();
  return fixture.conditions.find((condition) => condition.startsWith('Progressing'));
}

describe('a first install', () => {
  test('goes on where everything that it depends on is installed and healthy', async () => {
    const fixture = aFixture(depending('demo', 'db'), aDependency());
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
  });

  test('waits for one that does not exist, and applies nothing', async () => {
    const fixture = aFixture(depending('demo', 'db'));
    expect(await progressing(fixture)).toBe(
      'Progressing False WaitingForDependencies: waiting for BundleDeployment db because it does not exist',
    );
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    expect(fixture.events.list).toContainEqual(
      expect.objectContaining({ type: 'Normal', reason: 'WaitingForDependencies' }),
    );
  });

  test.each([
    ['it is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['its last change is not reconciled yet', { observedGeneration: 2 }],
    ['its Bundle is not installed yet', { activeBundle: '', conditions: [] }],
    ['its Bundle is not installed yet', { activeBundle: 'db-of-before' }],
    [
      'its HasValidBundle condition says: Waiting for the db-new Bundle to be unpacked',
      {
        activeBundle: 'db-old',
        conditions: conditions(
          { type: 'HasValidBundle', message: 'Waiting for the db-new Bundle to be unpacked' },
          ...good,
        ),
      },
    ],
    [
      'its Installed condition says: forbidden',
      { conditions: conditions({ type: 'Installed', status: 'False', message: 'forbidden' }) },
    ],
    [
      'its Progressing condition says: waiting for BundleDeployment x because it does not exist',
      {
        activeBundle: 'db-old',
        conditions: conditions(...good, {
          type: 'Progressing',
          status: 'False',
          message: 'waiting for BundleDeployment x because it does not exist',
        }),
      },
    ],
    [
      'its Ready condition says: the server answers 500',
      {
        conditions: conditions(...good, {
          type: 'Ready',
          status: 'False',
          message: 'the server answers 500',
        }),
        applied: anotherConfig,
      },
    ],
    ['its last change is not applied yet', { applied: anotherConfig }],
    [
      'its Healthy condition says: first line',
      {
        conditions: conditions(
          { type: 'Installed' },
          { type: 'Healthy', status: 'False', message: 'first line\nsecond' },
        ),
      },
    ],
  ])('waits because %s', async (because, changes) => {
    const fixture = aFixture(depending('demo', 'db'), aDependency(changes));
    expect(await progressing(fixture)).toBe(
      `Progressing False WaitingForDependencies: waiting for BundleDeployment db because ${because}`,
    );
  });

  test('goes on where only deletions of one that it depends on wait', async () => {
    const { spec } = aStoredDeployment();
    const waitingDeletions = { uid: 'u', rendering: renderingOf(spec), objects: [] };
    const db = aDependency({ applied: { ...anotherConfig, superseded: true }, waitingDeletions });
    expect(await progressing(aFixture(depending('demo', 'db'), db))).toBeUndefined();
  });

  test('does not wait for health that is reported by nobody', async () => {
    const db = aDependency({ conditions: conditions({ type: 'Installed' }) });
    expect(await progressing(aFixture(depending('demo', 'db'), db))).toBeUndefined();
  });

  test('does not wait for health where the feature gate is off', async () => {
    const ill = conditions({ type: 'Installed' }, { type: 'Healthy', status: 'False' });
    const fixture = new BundleDeploymentFixture(depending('demo', 'db'), { reportHealth: false });
    fixture.have(aBundleOf(v1));
    fixture.change(aDependency({ conditions: ill }));
    expect(await progressing(fixture)).toBeUndefined();
  });

  test('names the first ones that it waits for, each once', async () => {
    const fixture = aFixture(depending('demo', 'p', 'p', 'q', 'r', 's', 't'));
    const because = (name: string) => `BundleDeployment ${name} because it does not exist`;
    expect(await progressing(fixture)).toContain(
      `waiting for ${because('p')}; ${because('q')}; ${because('r')}; and for 2 more`,
    );
  });
});

test('a cycle is named, whatever else there is to say', async () => {
  const fixture = aFixture(
    depending('demo', 'b'),
    depending('b', 'c'),
    depending('c', 'demo', 'missing'),
  );
  expect(await progressing(fixture)).toBe(
    'Progressing False WaitingForDependencies: waiting for BundleDeployment b because it waits for this one: demo -> b -> c -> demo; take one of them out of spec.dependsOn',
  );
});

describe('what is installed', () => {
  function anInstalled(...dependencies: readonly string[]): BundleDeployment {
    return {
      ...depending('demo', ...dependencies),
      status: {
        observedGeneration: 1,
        activeBundle: nameOf(v1),
        conditions: conditions(...good),
      },
    };
  }

  test('stays, and is repaired, whatever becomes of its dependencies', async () => {
    const fixture = aFixture(anInstalled('db'));
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
  });

  test('is kept in place while a new Bundle waits', async () => {
    const fixture = aFixture(anInstalled('db'));
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    expect(await progressing(fixture)).toContain('db because it does not exist');
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    fixture.change(aDependency());
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('an upgrade that waits between its stages goes on', async () => {
    const fixture = aFixture(anInstalled('db'), aDependency());
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    const blocked = { reason: 'WaitingForStage', message: 'stage 2 waits for stage 1' };
    fixture.applier.apply.mockResolvedValueOnce({ changes: 1, complete: false, blocked });
    expect(await progressing(fixture)).toContain('stage 2 waits for stage 1');
    expect(fixture.conditions).toContain(
      'Installed False WaitingForStage: stage 2 waits for stage 1',
    );
    fixture.change(aDependency({ observedGeneration: 1 }));
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('an upgrade that has begun goes on also after a change of something else', async () => {
    const fixture = aFixture(anInstalled('db'), aDependency());
    await fixture.reconcile();
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    const blocked = { reason: 'WaitingForStage', message: 'stage 2 waits for stage 1' };
    fixture.applier.apply.mockResolvedValueOnce({ changes: 1, complete: false, blocked });
    expect(await progressing(fixture)).toContain('stage 2 waits for stage 1');
    fixture.change(aDependency({ observedGeneration: 1 }));
    fixture.changeSpec({ health: { progressDeadline: '1h' } });
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  /** The process ends amid the first apply of version 2; the next one meets an unhealthy dependency. */
  async function crashed(): Promise<BundleDeploymentFixture> {
    const former = aFixture(anInstalled('db'), aDependency());
    await former.reconcile();
    former.have(aBundleOf(v2));
    former.changeSpec({ template: v2 });
    former.applier.apply.mockImplementationOnce(async () => {
      former.stop.abort();
      throw former.stop.signal.reason;
    });
    await former.failure();
    expect(former.status.observedGeneration).toBe(1);
    const next = aFixture(former.live, aDependency({ observedGeneration: 1 }));
    next.have(...former.bundles.list());
    return next;
  }

  test('an upgrade that has begun in a process that crashed goes on', async () => {
    const fixture = await crashed();
    expect(await progressing(fixture)).toBeUndefined();
    expect(fixture.load.mock.calls.map(([{ metadata }]) => metadata.name)).toEqual([nameOf(v2)]);
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(fixture.status.applied).not.toHaveProperty('begun');
  });

  test('one that core has gone back from has not begun', async () => {
    const fixture = await crashed();
    fixture.changeSpec({ template: v1 });
    await fixture.reconcile();
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    expect(await progressing(fixture)).toContain('WaitingForDependencies');
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test.each([
    ['waits for its dependencies', {}, 'Progressing False WaitingForDependencies'],
    ['was unpacked slowly', { phase: 'Pending' }, undefined],
  ])('a failed repair does not let a new Bundle pass that %s', async (_, status, held) => {
    const fixture = aFixture(anInstalled('db'));
    fixture.have(aBundleOf(v2, { phase: 'Unpacked', ...status }));
    fixture.changeSpec({ template: v2 });
    fixture.applier.apply.mockRejectedValueOnce(new Error('no answer'));
    await fixture.failure();
    expect(fixture.conditions).toContain('Installed False UpgradeFailed: no answer');
    const before = fixture.conditions.find((condition) => condition.startsWith('Progressing'));
    expect(before?.slice(0, held?.length)).toBe(held);
    fixture.have(aBundleOf(v2));
    expect(await progressing(fixture)).toContain('db because it does not exist');
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

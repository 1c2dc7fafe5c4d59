import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  unpackedStatus,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Forecast } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';

const forecast: Forecast = {
  digest: 'd1',
  changes: [
    { action: 'Create', group: '', kind: 'ConfigMap', namespace: 'shop', name: 'a' },
    {
      action: 'Change',
      group: 'apps',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'b',
      fields: [{ path: 'spec.replicas', before: '1', after: '2' }],
    },
  ],
  unchanged: 3,
  problems: [],
  warnings: [],
};

/**
 * A deployment with upgradePolicy Manual and the template of version 2; version 1 is installed if
 * `active`.
 */
function aManual(
  status: BundleDeploymentStatus = { activeBundle: nameOf(v1) },
): BundleDeploymentFixture {
  const deployment = aStoredDeployment({ template: v2, status });
  const fixture = new BundleDeploymentFixture({
    ...deployment,
    spec: { ...deployment.spec, upgradePolicy: 'Manual' },
  });
  fixture.have(aMade(v1), aMade(v2));
  fixture.applier.plan.mockResolvedValue(forecast);
  return fixture;
}

/** An unpacked Bundle created at this hour, the first or a later one of its name. */
function aMade(template: typeof v1, uid = nameOf(template), hour = '00'): Bundle {
  const creationTimestamp = `2026-01-01T${hour}:00:00Z`;
  return aBundleOf(template, unpackedStatus, { uid, creationTimestamp });
}

/** Deletes a Bundle, and creates one of its name hours later. */
function makeAgain(fixture: BundleDeploymentFixture, template: typeof v1): void {
  fixture.client.drop({ name: nameOf(template) });
  fixture.have(aMade(template, 'again', '05'));
}

function annotate(fixture: BundleDeploymentFixture, digest: string | undefined): void {
  const { live } = fixture;
  const annotations = digest === undefined ? {} : { [annotation.approve]: digest };
  fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
}

/** Reconciles until no reconcile is due at once. */
async function settle(fixture: BundleDeploymentFixture): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const { requeueAfter } = await fixture.reconcile();
    if (requeueAfter !== 0) return;
  }
  throw new Error('it does not settle');
}

function messageOf(fixture: BundleDeploymentFixture): string {
  return fixture.conditions.find((text) => text.startsWith('Progressing ')) ?? '';
}

describe('a template that changes', () => {
  test('waits with its plan, and the active Bundle stays in place', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const { plan, activeBundle } = fixture.status;
    expect(activeBundle).toBe(nameOf(v1));
    expect(plan).toMatchObject({
      bundle: nameOf(v2),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      create: 1,
      change: 1,
      delete: 0,
      unchanged: 3,
      changes: [
        { action: 'Create', name: 'a' },
        { action: 'Change', name: 'b', fields: ['spec.replicas'] },
      ],
    });
    expect(plan).not.toHaveProperty('truncated');
    expect(messageOf(fixture)).toBe(
      `Progressing False AwaitingApproval: the plan of Bundle ${nameOf(v2)} (1 to create, 1 to change, 0 to delete, 3 unchanged) waits for approval: ` +
        'see it with "rukpakctl plan demo", approve it with "rukpakctl approve demo" or ' +
        `"kubectl annotate --overwrite bundledeployment demo core.rukpak.io/approve=${plan?.digest}"`,
    );
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    expect(fixture.storedPlans.write).toHaveBeenCalledOnce();
  });

  test('is planned once, however often it is looked at', async () => {
    const fixture = aManual();
    for (let turn = 0; turn < 4; turn += 1) await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledOnce();
    expect(fixture.applier.apply).toHaveBeenCalledTimes(4);
  });

  test('is planned again some time after objects have changed', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const [[changed] = []] = fixture.applier.onChange.mock.calls;
    changed?.('demo', 'change');
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledOnce();
    expect(fixture.wakeAfter).toBe(10_000);
    fixture.clock.advance(10_000);
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
  });

  test('is planned again in time where the clock is set back meanwhile', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const [[changed] = []] = fixture.applier.onChange.mock.calls;
    changed?.('demo', 'change');
    fixture.clock.set(fixture.clock.now() - 3_600_000);
    await fixture.reconcile();
    expect(fixture.wakeAfter).toBe(10_000);
    fixture.clock.advance(10_000);
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
  });

  test('keeps the time of a plan that is made again and is the same', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const { createdAt } = fixture.status.plan ?? {};
    fixture.clock.advance(60_000);
    fixture.changeSpec({ revisionHistoryLimit: 3 });
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
    expect(fixture.status.plan?.createdAt).toBe(createdAt);
  });
});

describe('a config that changes', () => {
  test('waits too where the policy comes with it', async () => {
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ template: v1 }));
    fixture.have(aMade(v1));
    fixture.applier.plan.mockResolvedValue(forecast);
    fixture.handler.mockImplementation(async (_, { spec }) =>
      spec.config === undefined ? objects : [anObject('Secret')],
    );
    await fixture.reconcile();
    fixture.changeSpec({ upgradePolicy: 'Manual', config: { name: 'a' } });
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
    const applied = fixture.applier.apply.mock.calls.map(([request]) => request.objects);
    expect(applied).toEqual([objects, objects]);
  });
});

describe('a first install', () => {
  test('waits too, and nothing is applied', async () => {
    const fixture = aManual({});
    await fixture.reconcile();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
  });

  test('that cannot be planned says why, and is tried again', async () => {
    const fixture = aManual({});
    fixture.applier.plan.mockRejectedValue(
      new TerminalError('no such kind', { reason: 'InstallFailed' }),
    );
    await fixture.reconcile();
    expect(fixture.conditions).toContain('Installed False InstallFailed: no such kind');
    expect(messageOf(fixture)).toContain(
      `AwaitingApproval: no plan can be made of Bundle ${nameOf(v2)}: no such kind`,
    );
    expect(fixture.wakeAfter).toBe(2_000);
    const pauses: (number | undefined)[] = [];
    for (const passed of [8_000, 12_000, 600_000]) {
      fixture.clock.advance(passed);
      await fixture.reconcile();
      pauses.push(fixture.wakeAfter);
    }
    expect(pauses).toEqual([4_000, 10_000, 30_000]);
  });
});

describe('a Bundle', () => {
  test('whose content cannot be read is no valid one', async () => {
    const fixture = aManual({});
    fixture.handler.mockRejectedValue(new TerminalError('no manifests'));
    await fixture.reconcile();
    expect(fixture.conditions).toContain(
      'HasValidBundle False BundleLoadFailed: class "plain", deployment(): no manifests',
    );
    expect(fixture.conditions.join()).not.toContain('Installed ');
  });

  test('that the API server cannot be asked about is asked about later', async () => {
    const fixture = aManual();
    fixture.applier.plan.mockRejectedValueOnce(new Error('connection refused'));
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('no plan can be made of Bundle');
    // Core goes on repairing the installed objects.
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    await fixture.reconcile();
    expect(fixture.status.plan?.create).toBe(1);
  });
});

describe('an approval', () => {
  test('of the plan as it is now is written down, and then applied', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const digest = fixture.status.plan?.digest;
    annotate(fixture, digest);
    expect(await fixture.reconcile()).toEqual({ requeueAfter: 0 });
    expect(fixture.status).toMatchObject({
      approval: { bundle: nameOf(v2), digest, approvedAt: expect.any(String) },
      plan: { digest },
      activeBundle: nameOf(v1),
    });
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(fixture.status).not.toHaveProperty('plan');
    expect(messageOf(fixture)).toBe('');
    expect(fixture.storedPlans.remove).toHaveBeenCalledOnce();
    expect(fixture.events.list).toContainEqual(expect.objectContaining({ reason: 'PlanApproved' }));
  });

  test('of another plan applies nothing, and says that it is outdated', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    const { digest = '' } = fixture.status.plan ?? {};
    fixture.applier.plan.mockResolvedValue({ ...forecast, digest: 'd2' });
    annotate(fixture, digest);
    await settle(fixture);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.status.plan?.digest).not.toBe(digest);
    expect(messageOf(fixture)).toContain(`the approved plan ${digest} is outdated`);
    expect(fixture.status.approval?.bundle).toBe(nameOf(v1));
  });

  test('that drift stood in the way of holds once it is repaired, and is not tried forever', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    fixture.applier.plan.mockResolvedValueOnce({ ...forecast, digest: 'drifted' });
    annotate(fixture, fixture.status.plan?.digest);
    await settle(fixture);
    expect(fixture.wakeAfter).toBe(10_000);
    fixture.clock.advance(10_000);
    await settle(fixture);
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('of an outdated plan costs two plans, not one per reconcile', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    annotate(fixture, 'f'.repeat(64));
    for (let turn = 0; turn < 5; turn += 1) {
      await settle(fixture);
      fixture.clock.advance(60_000);
    }
    expect(fixture.applier.plan).toHaveBeenCalledTimes(3);
    annotate(fixture, undefined);
    await settle(fixture);
    expect(messageOf(fixture)).not.toContain('is outdated');
  });

  test('of a plan that would fail has no effect', async () => {
    const fixture = aManual();
    fixture.applier.plan.mockResolvedValue({ ...forecast, problems: ['ConfigMap "a": denied'] });
    await fixture.reconcile();
    annotate(fixture, fixture.status.plan?.digest);
    await settle(fixture);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.status.plan?.problems).toEqual(['ConfigMap "a": denied']);
    expect(messageOf(fixture)).toContain(
      'cannot be approved, because it would fail: ConfigMap "a": denied.',
    );
  });

  test('is finished after a crash, though the cluster is half changed by then', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    annotate(fixture, fixture.status.plan?.digest);
    await fixture.reconcile();
    fixture.applier.apply.mockRejectedValueOnce(new Error('the process ends'));
    await fixture.failure();
    const restarted = new BundleDeploymentFixture(fixture.live);
    restarted.have(aMade(v1), aMade(v2));
    restarted.applier.plan.mockResolvedValue({ ...forecast, digest: 'half' });
    await restarted.reconcile();
    expect(restarted.status.activeBundle).toBe(nameOf(v2));
    expect(restarted.applier.plan).not.toHaveBeenCalled();
  });

  test('is needed again for the next template, and for another config', async () => {
    const approval = { bundle: nameOf(v2), uid: nameOf(v2), rendering: 'other', digest: 'old' };
    const fixture = aManual({ activeBundle: nameOf(v2), approval });
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
    // The new config changes even the objects of the active Bundle.
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    annotate(fixture, 'old');
    await fixture.reconcile();
    expect(messageOf(fixture)).not.toContain('is outdated');
    annotate(fixture, fixture.status.plan?.digest);
    await settle(fixture);
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    expect(fixture.status).not.toHaveProperty('plan');
  });
});

test('to wait for approval is no reason to go back', async () => {
  const fixture = aManual();
  fixture.changeSpec({ rollback: { deadline: '1m' }, revisionHistoryLimit: 2 });
  await settle(fixture);
  fixture.clock.advance(10 * 60_000);
  await settle(fixture);
  expect(fixture.status).not.toHaveProperty('rollback');
  annotate(fixture, fixture.status.plan?.digest);
  fixture.applier.health.mockReturnValue([{ message: 'object InProgress' }]);
  await settle(fixture);
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
  fixture.clock.advance(61_000);
  await settle(fixture);
  await settle(fixture);
  // Going back needs no approval.
  expect(fixture.status).toMatchObject({
    activeBundle: nameOf(v1),
    rollback: { from: nameOf(v2), to: nameOf(v1) },
  });
  expect(fixture.status).not.toHaveProperty('plan');
});

describe('an active Bundle that is made again under its name', () => {
  test('waits, for its content may be another one, and is not repaired either', async () => {
    const fixture = aManual({ activeBundle: nameOf(v2) });
    await fixture.reconcile();
    fixture.applier.apply.mockClear();
    makeAgain(fixture, v2);
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('waits for approval');
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    annotate(fixture, fixture.status.plan?.digest);
    await settle(fixture);
    expect(fixture.applier.apply).toHaveBeenCalledOnce();
    expect(fixture.status.approval).toMatchObject({ bundle: nameOf(v2), uid: 'again' });
  });

  test('is no way back without approval', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    annotate(fixture, fixture.status.plan?.digest);
    await fixture.reconcile();
    makeAgain(fixture, v1);
    fixture.applier.apply.mockClear();
    fixture.changeSpec({ template: v1 });
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });
});

test('a plan that only orphans changes something: it waits, and says so', async () => {
  const fixture = aManual();
  const crd = {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    name: 'gizmos.example.com',
  };
  const because = 'the deletion policy is KeepCRDs';
  const changes = [{ action: 'Orphan', ...crd, because }] as const;
  fixture.applier.plan.mockResolvedValue({ ...forecast, changes });
  await settle(fixture);
  const { plan, activeBundle } = fixture.status;
  expect(activeBundle).toBe(nameOf(v1));
  expect(plan).toMatchObject({ create: 0, change: 0, delete: 0, orphan: 1, unchanged: 3 });
  expect(plan?.changes).toEqual([{ action: 'Orphan', ...crd }]);
  expect(messageOf(fixture)).toContain(
    '(0 to create, 0 to change, 0 to delete, 1 to orphan, 3 unchanged) waits for approval',
  );
  annotate(fixture, plan?.digest);
  await settle(fixture);
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
  expect(fixture.events.taken().join()).not.toContain('it changes nothing');
});

describe('no approval is needed', () => {
  test('for a plan without changes', async () => {
    const fixture = aManual();
    fixture.applier.plan.mockResolvedValue({ ...forecast, changes: [] });
    await settle(fixture);
    expect(fixture.status).toMatchObject({
      activeBundle: nameOf(v2),
      approval: { bundle: nameOf(v2) },
    });
    expect(fixture.events.taken().join()).toContain('is approved: it changes nothing');
  });

  test('for what was active when the policy came, and its drift', async () => {
    const fixture = aManual({ activeBundle: nameOf(v2) });
    await fixture.reconcile();
    await fixture.reconcile();
    expect(fixture.applier.apply).toHaveBeenCalledTimes(2);
    expect(fixture.applier.plan).not.toHaveBeenCalled();
    expect(fixture.status.approval).toEqual({
      bundle: nameOf(v2),
      uid: nameOf(v2),
      objects: expect.any(String),
      rendering: expect.any(String),
    });
  });

  test('to go back to what is active', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    fixture.changeSpec({ template: v1 });
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1) });
    expect(fixture.status).not.toHaveProperty('plan');
    expect(messageOf(fixture)).toBe('');
  });

  test('once the policy is Automatic again', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    fixture.changeSpec({ upgradePolicy: 'Automatic' });
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(fixture.status).not.toHaveProperty('plan');
    expect(fixture.status).not.toHaveProperty('approval');
  });
});

describe('a rendering that changes, though the spec and its Bundle do not', () => {
  /** The template's version is approved and installed; then facts change its objects. */
  async function anInstalled(status?: BundleDeploymentStatus): Promise<BundleDeploymentFixture> {
    const fixture = aManual(status ?? { activeBundle: nameOf(v2) });
    await settle(fixture);
    await fixture.reconcile();
    return fixture;
  }

  function renderOther(fixture: BundleDeploymentFixture): void {
    fixture.facts.prepare.mockResolvedValue({
      version: 'other',
      read: async () => ({ inputs: [Buffer.from('other')] }),
    });
    fixture.handler.mockImplementation(async (_, __, { inputs }) =>
      inputs.length > 0 ? [anObject('Secret')] : objects,
    );
  }

  test('waits as a new plan, and what was approved is kept in place', async () => {
    const fixture = await anInstalled();
    expect(fixture.applier.plan).not.toHaveBeenCalled();
    renderOther(fixture);
    fixture.applier.apply.mockClear();
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
    const applied = fixture.applier.apply.mock.calls.map(([request]) => request.objects);
    expect(applied).toEqual([objects]);

    annotate(fixture, fixture.status.plan?.digest);
    await settle(fixture);
    await fixture.reconcile();
    const later = fixture.applier.apply.mock.calls.map(([request]) => request);
    const approved = later.filter((request) => request.objects[0]?.kind === 'Secret');
    expect(approved[0]).toMatchObject({ objects: [anObject('Secret')] });
    expect(approved[0]?.deletionsAsked).toBeUndefined();
    // The plan is carried out: nobody has approved another deletion.
    expect(approved.at(-1)).toMatchObject({ objects: [anObject('Secret')], deletionsAsked: false });
    expect(messageOf(fixture)).toBe('');
  });

  test('waits in a new process too, which applies nothing meanwhile', async () => {
    const { status } = await anInstalled();
    const fixture = aManual(status);
    renderOther(fixture);
    await fixture.reconcile();
    expect(messageOf(fixture)).toContain('AwaitingApproval');
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('waits where another Bundle is held up, too', async () => {
    const { status } = await anInstalled({ activeBundle: nameOf(v2) });
    const fixture = aManual(status);
    renderOther(fixture);
    fixture.have(aBundleOf(v3, { phase: 'Unpacking' }));
    fixture.changeSpec({ template: v3 });
    await fixture.reconcile();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('is planned anew where it changes while a plan waits', async () => {
    const fixture = aManual();
    await fixture.reconcile();
    renderOther(fixture);
    await fixture.reconcile();
    expect(fixture.applier.plan).toHaveBeenCalledTimes(2);
  });
});

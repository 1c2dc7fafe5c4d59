import { describe, expect, test } from 'vitest';
import type { BundleDeployment, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';
import { renderingOf } from '../../apply/index.ts';

const evil = aTemplate('example.com/evil:v1');
const [first, next] = [nameOf(v1), nameOf(v2)];
const past = '2025-01-01T00:00:00Z';
const at = (minute: number) => ({ creationTimestamp: `2026-01-01T00:0${minute}:00Z` });
const withRollback = { rollback: { deadline: '30s' } } as const;
const manual = { upgradePolicy: 'Manual' } as const;

/** Version 1 and, after it, version 2 are rolled out by core itself, and healthy. */
async function rolledOut(spec: Partial<BundleDeployment['spec']>) {
  // The fixture's applier does not write it.
  const annotations = { [annotation.installNamespace]: 'demo:rukpak-system' };
  const deployment = aStoredDeployment({ metadata: { annotations } });
  const fixture = new BundleDeploymentFixture({
    ...deployment,
    spec: { ...deployment.spec, ...spec },
  });
  fixture.have(aBundleOf(v1, undefined, { uid: 'u-1', ...at(0) }));
  await settle(fixture);
  fixture.have(aBundleOf(v2, undefined, { uid: 'u-2', ...at(1) }));
  fixture.changeSpec({ template: v2 });
  await settle(fixture);
  return fixture;
}

async function settle(fixture: BundleDeploymentFixture): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const { requeueAfter } = await fixture.reconcile();
    if (requeueAfter !== 0 && fixture.wakeAfter !== 0) return;
  }
  throw new Error('it does not settle');
}

/** What somebody writes who may write the status alone. */
function forge(fixture: BundleDeploymentFixture, forged: BundleDeploymentStatus): void {
  const { live } = fixture;
  fixture.change({ ...live, status: { ...live.status, ...forged } });
}

/** Another process, with the same cluster. */
function restarted({ live, bundles }: BundleDeploymentFixture): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture(live);
  fixture.have(...bundles.list());
  return fixture;
}

const noteOf = ({ live }: BundleDeploymentFixture) =>
  live.metadata.annotations?.[annotation.notedStatus];

const targets = (fixture: BundleDeploymentFixture) =>
  fixture.applier.apply.mock.calls.map(([{ bundle }]) => bundle);

const aRollback = (to: string) => ({
  rollback: { from: next, to, reason: 'forged', at: past },
  history: [{ revision: 1, bundle: to, template: evil, appliedAt: past, healthyAt: past }],
});

describe.each([
  ['is put right as it was', (fixture: BundleDeploymentFixture) => fixture],
  ['also by another process', restarted],
])('a rollback that somebody wrote %s', (_, then) => {
  test('installs no template of theirs', async () => {
    const before = await rolledOut(withRollback);
    forge(before, aRollback(nameOf(evil)));
    const fixture = then(before);
    fixture.applier.apply.mockClear();
    await settle(fixture);
    expect(fixture.bundleNames).not.toContain(nameOf(evil));
    expect(new Set(targets(fixture))).toEqual(new Set([next]));
    expect(fixture.status.rollback).toBeUndefined();
    expect(JSON.stringify(fixture.status)).not.toContain('evil');
    expect(fixture.status.activeBundle).toBe(next);
  });

  test('goes back to no version before', async () => {
    const before = await rolledOut(withRollback);
    forge(before, { rollback: aRollback(first).rollback });
    const fixture = then(before);
    fixture.applier.apply.mockClear();
    await settle(fixture);
    expect(new Set(targets(fixture))).toEqual(new Set([next]));
    expect(fixture.status.rollback).toBeUndefined();
  });

  test('is told once', async () => {
    const before = await rolledOut(withRollback);
    forge(before, aRollback(nameOf(evil)));
    const fixture = then(before);
    fixture.events.taken();
    fixture.client.faults.patch = [new Error('unavailable')];
    await fixture.failure();
    await settle(fixture);
    const told = fixture.events.taken().filter((text) => text.includes('StatusRestored'));
    const blame = /^Warning StatusRestored: Another client wrote history, rollback or approval/;
    expect(told).toEqual([expect.stringMatching(blame)]);
  });
});

test('a status that an earlier version of core wrote without a note is not said to be forged', async () => {
  const fixture = restarted(await rolledOut(withRollback));
  const { live } = fixture;
  fixture.change({ ...live, metadata: { ...live.metadata, annotations: {} } });
  await settle(fixture);
  const told = fixture.events.taken().filter((text) => text.includes('StatusRestored'));
  expect(told).toEqual([expect.stringContaining('without annotation core.rukpak.io/noted-status')]);
});

describe('the history that core has written', () => {
  test('outlives its forgery', async () => {
    const fixture = await rolledOut(withRollback);
    const { history } = fixture.status;
    expect(history?.map(({ bundle }) => bundle)).toEqual([next, first]);
    forge(fixture, { history: [] });
    await settle(fixture);
    expect(fixture.status.history).toEqual(history);
    expect(fixture.bundleNames).toEqual([first, next]);
  });

  test('is believed by another process', async () => {
    const before = await rolledOut(withRollback);
    const fixture = restarted(before);
    const requests = fixture.client.calls.length;
    await settle(fixture);
    expect(fixture.status).toEqual(before.status);
    expect(fixture.client.calls).toHaveLength(requests);
    expect(fixture.events.taken().join()).not.toContain('StatusRestored');
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('is not lost where core ends at request %i', async (nth) => {
    const before = await rolledOut(withRollback);
    before.have(aBundleOf(v3, undefined, { uid: 'u-3', ...at(2) }));
    before.changeSpec({ template: v3 });
    const faults = Array.from({ length: nth - 1 }, () => undefined);
    before.client.faults.patch = [...faults, new Error('ended')];
    await before.failure();
    const fixture = restarted(before);
    await settle(fixture);
    const { history = [] } = fixture.status;
    expect(history.map(({ bundle }) => bundle)).toEqual([nameOf(v3), next, first]);
    expect(history.every(({ healthyAt }) => healthyAt !== undefined)).toBe(true);
    expect(fixture.events.taken().join()).not.toContain('StatusRestored');
  });

  test('outlives kubectl replace, which removes the annotation', async () => {
    const fixture = await rolledOut(withRollback);
    const [note, { history }] = [noteOf(fixture), fixture.status];
    const { live } = fixture;
    fixture.change({ ...live, metadata: { ...live.metadata, annotations: {} } });
    await settle(fixture);
    expect(fixture.status.history).toEqual(history);
    expect(noteOf(fixture)).toBe(note);
    expect(fixture.events.taken().join()).not.toContain('StatusRestored');
  });

  test('does not count again once it has changed', async () => {
    const fixture = await rolledOut(withRollback);
    const { status } = fixture.live;
    fixture.have(aBundleOf(v3, undefined, { uid: 'u-3', ...at(2) }));
    fixture.changeSpec({ template: v3 });
    await settle(fixture);
    forge(fixture, { ...status });
    const other = restarted(fixture);
    other.changeSpec({ installNamespace: 'elsewhere' });
    other.applier.apply.mockClear();
    await settle(other);
    expect(new Set(targets(other))).toEqual(new Set([nameOf(v3)]));
  });

  test('is lost in a restore without status, which is no news', async () => {
    const { live, bundles } = await rolledOut(withRollback);
    const { status: _, ...restored } = live;
    const fixture = new BundleDeploymentFixture(restored);
    fixture.have(...bundles.list());
    await settle(fixture);
    expect(fixture.status.history?.map(({ bundle }) => bundle)).toEqual([next]);
    expect(fixture.events.taken().join()).not.toContain('StatusRestored');
  });
});

test('a deadline that somebody has moved passes for nobody', async () => {
  const before = await rolledOut(withRollback);
  before.applier.health.mockReturnValue([{ message: 'InProgress' }]);
  forge(before, { progress: { bundle: next, startedAt: past } });
  for (const fixture of [before, restarted(before)]) {
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    await settle(fixture);
    expect(fixture.status.rollback).toBeUndefined();
    expect(fixture.status.activeBundle).toBe(next);
  }
});

describe('with upgradePolicy Manual', () => {
  const forecast = {
    digest: 'd',
    changes: [{ action: 'Create', group: '', kind: 'ConfigMap', name: 'a' } as const],
    unchanged: 0,
    problems: [],
    warnings: [],
  };

  /** Version 1 is installed; version 2, or another config, waits for approval. */
  async function waiting(change: Partial<BundleDeployment['spec']>) {
    const deployment = aStoredDeployment();
    const spec = { ...deployment.spec, ...manual };
    const fixture = new BundleDeploymentFixture({ ...deployment, spec });
    fixture.have(aBundleOf(v1, undefined, { uid: 'u-1', ...at(0) }));
    await settle(fixture);
    expect(fixture.status.activeBundle).toBe(first);
    fixture.have(aBundleOf(v2, undefined, { uid: 'u-2', ...at(1) }));
    fixture.applier.plan.mockResolvedValue(forecast);
    fixture.handler.mockImplementation(async (_, { spec: { config, template } }) => [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { config, template } },
    ]);
    fixture.changeSpec(change);
    await settle(fixture);
    return fixture;
  }

  const withV2 = { bundle: next, uid: 'u-2' } as const;

  test.each<[string, Partial<BundleDeployment['spec']>, BundleDeploymentStatus]>([
    ['an approval', { template: v2 }, { approval: { ...withV2, rendering: '' } }],
    ['what is active', { template: v2 }, { activeBundle: next, approval: undefined }],
    [
      'that nothing was ever approved',
      { config: { a: 1 } },
      { approval: undefined, applied: undefined },
    ],
  ])('%s that somebody wrote approves nothing', async (_, change, forged) => {
    const before = await waiting(change);
    const { rendering = '' } = before.status.approval ?? {};
    const approval = forged.approval && { approval: { ...forged.approval, rendering } };
    for (const fixture of [before, restarted(before)]) {
      fixture.applier.plan.mockResolvedValue(forecast);
      fixture.handler.mockImplementation(before.handler.getMockImplementation() as never);
      forge(fixture, { ...forged, ...approval });
      fixture.applier.apply.mockClear();
      await settle(fixture);
      const applied = fixture.applier.apply.mock.calls.map(([{ bundle, objects }]) =>
        JSON.stringify([bundle, objects]),
      );
      expect(applied.filter((text) => text.includes(next) || text.includes('"a":1'))).toEqual([]);
      expect(fixture.conditions.join()).toContain('AwaitingApproval');
    }
  });

  test.each([first, next])(
    'a new template that comes with the policy waits, whatever the status says (%s)',
    async (name) => {
      const before = await rolledOut({});
      for (const fixture of [before, restarted(before)]) {
        fixture.applier.plan.mockResolvedValue(forecast);
        fixture.have(aBundleOf(v1, undefined, { uid: 'u-1', ...at(0) }));
        fixture.changeSpec({ ...manual, template: v1 });
        forge(fixture, { activeBundle: name });
        fixture.applier.apply.mockClear();
        await settle(fixture);
        expect(targets(fixture)).not.toContain(first);
        expect(fixture.conditions.join()).toContain('AwaitingApproval');
      }
    },
  );

  test('needs no plan for what this process has applied', async () => {
    const fixture = await rolledOut({});
    fixture.changeSpec(manual);
    await settle(fixture);
    expect(fixture.applier.plan).not.toHaveBeenCalled();
    expect(fixture.status.approval).toMatchObject({ bundle: next, uid: 'u-2' });
  });

  test.each([first, undefined])(
    'a first install waits, whatever the status says (%s)',
    async (name) => {
      const deployment = aStoredDeployment();
      const spec = { ...deployment.spec, ...manual };
      const approval = { bundle: first, uid: 'u-1', rendering: renderingOf(spec) };
      const fixture = new BundleDeploymentFixture({ ...deployment, spec });
      forge(fixture, name === undefined ? { approval } : { activeBundle: name });
      fixture.applier.plan.mockResolvedValue(forecast);
      fixture.have(aBundleOf(v1, undefined, { uid: 'u-1', ...at(0) }));
      await settle(fixture);
      expect(fixture.applier.apply).not.toHaveBeenCalled();
      expect(fixture.conditions.join()).toContain('AwaitingApproval');
    },
  );
});

describe('the note', () => {
  test('costs a deployment with the fields of RukPak no request', async () => {
    const fixture = await rolledOut({});
    expect(noteOf(fixture)).toBeUndefined();
    const others = fixture.client.patches.filter(({ options }) => options.subresource !== 'status');
    expect(others).toEqual([]);
  });

  test('goes with the history', async () => {
    const fixture = await rolledOut({ revisionHistoryLimit: 1 });
    expect(noteOf(fixture)).toMatch(/^demo:demo-\w+\/[\w-]{43}$/);
    fixture.changeSpec({ revisionHistoryLimit: 0 });
    await settle(fixture);
    expect(noteOf(fixture)).toBeUndefined();
  });
});

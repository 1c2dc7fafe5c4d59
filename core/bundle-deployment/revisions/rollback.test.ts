import { beforeEach, describe, expect, test } from 'vitest';
import type {
  BundleDeploymentSpec,
  BundleDeploymentStatus,
  BundleStatus,
} from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { TerminalError } from '../../errors.ts';
import { LostContentError } from '../index.ts';

const at = (minute: number) => ({ creationTimestamp: `2026-01-01T00:0${minute}:00Z` });
const second = 1_000;
const [first, next, last] = [nameOf(v1), nameOf(v2), nameOf(v3)];

let fixture: BundleDeploymentFixture;

/** Version 1 of a deployment is installed and healthy. */
async function installed(
  spec: Partial<BundleDeploymentSpec>,
  { reportHealth = true } = {},
): Promise<void> {
  const deployment = aStoredDeployment({ metadata: { annotations: changedBy('alice') } });
  fixture = new BundleDeploymentFixture(
    { ...deployment, spec: { ...deployment.spec, ...spec } },
    { reportHealth },
  );
  fixture.have(aBundleOf(v1, undefined, at(0)));
  await fixture.reconcile();
  fixture.events.taken();
}

/** The next process begins so many milliseconds after the last one has ended. */
function anotherProcess(pause: number): void {
  const former = fixture;
  fixture = new BundleDeploymentFixture(former.live);
  fixture.have(...former.bundles.list());
  fixture.clock.set(former.clock.now() + pause);
}

function changedBy(user: string): Readonly<Record<string, string>> {
  return { 'core.rukpak.io/changed-by': user };
}

/** Changes the template; its new Bundle is unpacked. */
async function upgrade(template = v2, minute = 1): Promise<void> {
  fixture.have(aBundleOf(template, undefined, at(minute)));
  fixture.changeSpec({ template });
  await fixture.failure();
}

function sick(...messages: readonly string[]): void {
  fixture.applier.health.mockReturnValue(messages.map((message) => ({ message })));
}

/** Moves past the Bundle's deadline, and reconciles until no reconcile is due at once. */
async function timePasses(ms: number): Promise<void> {
  fixture.clock.advance(ms);
  do await fixture.failure();
  while (fixture.wakeAfter === 0);
}

const progressing = () => fixture.conditions.find((text) => text.startsWith('Progressing'));
const revisions = () => (fixture.status.history ?? []).map(({ bundle }) => bundle);

describe('a Bundle that is not healthy in time', () => {
  beforeEach(async () => await installed({ rollback: { deadline: '30s' } }));

  test('is rolled back to the last healthy one, with reason and time', async () => {
    sick('InProgress');
    await upgrade();
    expect(fixture.status.activeBundle).toBe(next);
    expect(fixture.wakeAfter).toBe(30 * second);
    await timePasses(29 * second);
    expect(fixture.wakeAfter).toBe(second);
    expect(fixture.status.rollback).toBeUndefined();
    fixture.events.taken();
    fixture.clock.advance(second);
    await fixture.reconcile();
    expect(fixture.wakeAfter).toBe(0);
    const because = `because "${next}" was not healthy within 30s (InProgress). `;
    const begun = `Core began to roll back to Bundle "${first}" at 2026-01-01T00:00:30Z, ${because}`;
    expect(progressing()).toContain(`Progressing False RollingBack: ${begun}`);
    expect(fixture.summary).toEqual([
      expect.stringContaining(`Ready False RollingBack: ${begun}`),
      expect.stringContaining('Reconciling True RollingBack: '),
    ]);
    sick();
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({
      activeBundle: first,
      rollback: {
        from: next,
        to: first,
        reason: 'not healthy within 30s (InProgress)',
        at: '2026-01-01T00:00:30Z',
      },
      progress: { bundle: first, startedAt: '2026-01-01T00:00:30Z', secondsToHealthy: 0 },
      history: [{ bundle: next, rolledBackAt: '2026-01-01T00:00:30Z' }, { bundle: first }],
    });
    const told =
      `Core rolled back to Bundle "${first}" at 2026-01-01T00:00:30Z, ${because}` +
      `Core does not retry "${next}": change spec.template, make the rollback permanent with "rukpakctl rollback demo", ` +
      `or remove spec.rollback to retry "${next}" without a deadline`;
    expect(progressing()).toBe(`Progressing False RolledBack: ${told}`);
    expect(fixture.events.taken()).toContain(`Warning RolledBack: ${told}`);
    expect(fixture.load.mock.lastCall?.[0].metadata.name).toBe(first);
    expect(fixture.bundleNames).toEqual([first, next]);
  });

  test('is not rolled back by a clock that is set ahead, and is in time with one that is set back', async () => {
    sick('InProgress');
    await upgrade();
    const { clock } = fixture;
    clock.set(clock.now() + 3_600 * second);
    await timePasses(29 * second);
    expect(fixture.wakeAfter).toBe(second);
    expect(fixture.status.rollback).toBeUndefined();
    clock.set(clock.now() - 7_200 * second);
    await timePasses(second);
    expect(fixture.status.rollback).toMatchObject({ from: next, to: first });
  });

  test('is not rolled back by a clock that is set ahead while it is applied, or after a pause', async () => {
    sick('InProgress');
    const { clock } = fixture;
    const aheadAtOnce = (): void =>
      void fixture.applier.apply.mockImplementationOnce(async () => {
        clock.set(clock.now() + 3_600 * second);
        return { changes: 1, complete: true };
      });
    aheadAtOnce();
    await upgrade();
    expect(fixture.wakeAfter).toBe(30 * second);
    fixture.changeSpec({ paused: true });
    await timePasses(60 * second);
    fixture.changeSpec({ paused: false });
    aheadAtOnce();
    await timePasses(0);
    expect(fixture.wakeAfter).toBe(30 * second);
    expect(fixture.status.rollback).toBeUndefined();
  });

  test('is not called rolled back before the earlier one is applied, and stays so afterwards', async () => {
    sick('InProgress');
    await upgrade();
    fixture.applier.apply.mockRejectedValue(new Error('refused'));
    await timePasses(30 * second);
    expect(fixture.status.activeBundle).toBe(next);
    expect(progressing()).toContain('Progressing False RollingBack: ');
    fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true });
    await timePasses(0);
    expect(fixture.status.activeBundle).toBe(first);
    expect(progressing()).toContain('Progressing False RolledBack: ');
    fixture.applier.apply.mockRejectedValue(new Error('refused'));
    await timePasses(0);
    expect(progressing()).toContain('Progressing False RolledBack: ');
  });

  test('is not tried again, however often it is looked at', async () => {
    sick('InProgress');
    await upgrade();
    await timePasses(30 * second);
    const before = fixture.client.calls.length;
    for (let round = 0; round < 3; round++) await timePasses(3_600 * second);
    expect(fixture.client.calls).toHaveLength(before);
    expect(fixture.status.activeBundle).toBe(first);
    expect(fixture.load.mock.lastCall?.[0].metadata.name).toBe(first);
  });

  test('stays where it was healthy once, whatever becomes of it later', async () => {
    await upgrade();
    expect(fixture.wakeAfter).toBeUndefined();
    sick('broken');
    await timePasses(3_600 * second);
    expect(fixture.status.activeBundle).toBe(next);
    expect(progressing()).toBeUndefined();
  });

  test('is rolled back as well when it cannot be applied', async () => {
    fixture.applier.apply.mockRejectedValue(new Error('refused'));
    await upgrade();
    expect(fixture.status.activeBundle).toBe(first);
    expect(fixture.wakeAfter).toBe(30 * second);
    fixture.clock.advance(30 * second);
    expect(await fixture.failure()).toEqual(new Error('refused'));
    fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true });
    await timePasses(0);
    expect(fixture.status.rollback?.reason).toBe('not healthy within 30s (refused)');
    expect(fixture.conditions).toContain(
      `Installed True InstallationSucceeded: Instantiated bundle ${first} successfully`,
    );
  });

  test('is rolled back to the last healthy one, not to one that never was', async () => {
    sick('InProgress');
    await upgrade(v2, 1);
    await upgrade(v3, 2);
    expect(fixture.status.progress).toMatchObject({ bundle: last });
    await timePasses(30 * second);
    expect(fixture.status.rollback).toMatchObject({ from: last, to: first });
  });

  test('has its whole time again after a pause', async () => {
    sick('InProgress');
    await upgrade();
    fixture.changeSpec({ paused: true });
    await timePasses(3_600 * second);
    expect(fixture.status.rollback).toBeUndefined();
    fixture.changeSpec({ paused: false });
    await timePasses(0);
    expect(fixture.wakeAfter).toBe(30 * second);
    await timePasses(30 * second);
    expect(fixture.status.rollback).toMatchObject({ from: next, to: first });
  });

  test('counts its time from its first apply, in whatever process that was', async () => {
    fixture.changeSpec({ rollback: { deadline: '5m' } });
    sick('InProgress');
    await upgrade();
    anotherProcess(200 * second);
    sick('InProgress');
    await fixture.reconcile();
    expect(fixture.wakeAfter).toBe(100 * second);
  });

  describe('while no process runs', () => {
    const content = new LostContentError('the content is lost and being fetched again');

    beforeEach(async () => {
      sick('InProgress');
      await upgrade();
      anotherProcess(3_600 * second);
      fixture.load.mockRejectedValueOnce(content);
      expect(await fixture.failure()).toBe(content);
    });

    test('is looked at before it is rolled back', async () => {
      expect(fixture.status.rollback).toBeUndefined();
      expect(fixture.wakeAfter).toBe(30 * second);
      await timePasses(second);
      expect(fixture.status.rollback).toBeUndefined();
      expect(fixture.status).toMatchObject({ activeBundle: next, progress: { bundle: next } });
      expect(fixture.status.progress).toHaveProperty('healthyAt');
    });

    test('is rolled back by the next process if it stays so', async () => {
      sick('InProgress');
      await timePasses(29 * second);
      expect(fixture.status.rollback).toBeUndefined();
      await timePasses(second);
      expect(fixture.status.rollback).toMatchObject({ from: next, to: first });
    });
  });
});

test('the Bundle that was gone back to is made again where it was deleted', async () => {
  await installed({ rollback: { deadline: '30s' } });
  sick('InProgress');
  await upgrade();
  await timePasses(30 * second);
  fixture.client.drop({ name: first });
  fixture.bundles.replace([aBundleOf(v2, undefined, at(1))], '1');
  await fixture.reconcile();
  expect(fixture.bundleNames).toEqual([next, first]);
  const applied = fixture.applier.apply.mock.calls.length;
  fixture.have(aBundleOf(v1, undefined, at(2)));
  sick();
  await fixture.reconcile();
  expect(fixture.applier.apply).toHaveBeenCalledTimes(applied + 1);
  expect(fixture.load.mock.lastCall?.[0].metadata).toMatchObject({ name: first, ...at(2) });
  expect(fixture.status).toMatchObject({ activeBundle: first, rollback: { to: first } });
});

describe('a rollback that cannot go on', () => {
  /** The decision is there, and nothing of the earlier Bundle is applied yet. */
  beforeEach(async () => {
    await installed({ rollback: { deadline: '30s' } });
    sick('InProgress');
    await upgrade();
    fixture.clock.advance(30 * second);
    await fixture.reconcile();
    expect(progressing()).toContain('RollingBack');
    fixture.applier.apply.mockClear();
  });

  test('names what is wrong with the earlier Bundle', async () => {
    fixture.handler.mockRejectedValue(new TerminalError('config/size: not known'));
    const cause = 'class "plain", deployment(): config/size: not known';
    fixture.changeSpec({ config: { size: 2 } });
    await fixture.failure();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    expect(progressing()).toMatch(/^Progressing False RollingBack: Core began to roll back to /);
    expect(progressing()).toContain(`. Core cannot apply Bundle "${first}" now: ${cause}`);
    expect(fixture.summary[0]).toContain(`Core cannot apply Bundle "${first}" now: ${cause}`);
  });

  test('names why the earlier Bundle is not unpacked', async () => {
    const status: BundleStatus = {
      phase: 'Failing',
      conditions: [
        {
          type: 'Unpacked',
          status: 'False',
          reason: 'UnpackFailed',
          message: 'the tag is gone',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    fixture.have(aBundleOf(v1, status, at(0)));
    await fixture.failure();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    expect(progressing()).toContain(
      `. Core cannot apply Bundle "${first}" now: it is not unpacked: the tag is gone`,
    );
  });
});

describe('a rollback ends', () => {
  beforeEach(async () => {
    await installed({ rollback: { deadline: '30s' } });
    sick('InProgress');
    await upgrade();
    await timePasses(30 * second);
    sick();
  });

  test('with another template', async () => {
    await upgrade(v3, 2);
    expect(fixture.status).toMatchObject({ activeBundle: last, progress: { bundle: last } });
    expect(fixture.status.rollback).toBeUndefined();
    expect(progressing()).toBeUndefined();
    expect(revisions()).toEqual([last, next, first]);
  });

  test('with the template of what is installed: it becomes a revision of its own', async () => {
    fixture.changeSpec({ template: v1 });
    await fixture.reconcile();
    expect(fixture.status.rollback).toBeUndefined();
    expect(progressing()).toBeUndefined();
    expect(fixture.status.history).toMatchObject([
      { revision: 3, bundle: first, healthyAt: '2026-01-01T00:00:30Z' },
      { revision: 2, bundle: next },
    ]);
  });

  test('with spec.rollback: the Bundle is tried again, and has all its time', async () => {
    const { rollback: _, ...spec } = fixture.live.spec;
    fixture.change({ ...fixture.live, spec });
    sick('InProgress');
    await timePasses(3_600 * second);
    expect(fixture.status.activeBundle).toBe(next);
    expect(fixture.status).not.toHaveProperty('rollback');
    expect(fixture.status).not.toHaveProperty('history');
    expect(fixture.status).not.toHaveProperty('progress');
  });

  test('not while the Bundle of another template is unpacked', async () => {
    fixture.have(aBundleOf(v3, { phase: 'Pending' }, at(2)));
    fixture.changeSpec({ template: v3 });
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(first);
    expect(fixture.bundleNames).toEqual([first, next, last]);
  });
});

describe('another template before a rollback is completed', () => {
  /** The decision is written, and nothing is applied yet. */
  beforeEach(async () => {
    await installed({ rollback: { deadline: '30s' } });
    sick('InProgress');
    await upgrade();
    fixture.clock.advance(30 * second);
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({ activeBundle: next, rollback: { to: first } });
    fixture.load.mockClear();
    fixture.have(aBundleOf(v3, { phase: 'Pending' }, at(2)));
    fixture.changeSpec({ template: v3 });
  });

  const loaded = () => fixture.load.mock.calls.map(([{ metadata }]) => metadata.name);

  test('does not bring the unhealthy Bundle back while its own waits', async () => {
    fixture.applier.apply.mockRejectedValueOnce(new Error('refused'));
    await fixture.failure();
    expect(fixture.status).toMatchObject({ activeBundle: next, rollback: { to: first } });
    await fixture.failure();
    expect(new Set(loaded())).toEqual(new Set([first]));
    expect(fixture.status.activeBundle).toBe(first);
    await fixture.reconcile();
    expect(fixture.status.rollback).toBeUndefined();
    expect(progressing()).toBeUndefined();
  });

  test('deletes nothing on the way back: the new one may have what the unhealthy one has made', async () => {
    await fixture.failure();
    expect(loaded()).toEqual([first]);
    expect(fixture.applier.apply.mock.lastCall?.[0].standsIn).toBe(true);
  });

  test('makes the Bundle again to which it goes back', async () => {
    const made = fixture.client.peek({ name: first })?.metadata.uid;
    fixture.client.drop({ name: first });
    fixture.bundles.replace(
      [aBundleOf(v2, undefined, at(1)), aBundleOf(v3, { phase: 'Pending' }, at(2))],
      '1',
    );
    await fixture.failure();
    const again = fixture.client.peek({ name: first });
    expect(again).toBeDefined();
    expect(again?.metadata.uid).not.toBe(made);
    expect(loaded()).not.toContain(next);
  });

  test('rolls its own out once it is unpacked, as an upgrade with all its time', async () => {
    fixture.have(aBundleOf(v3, undefined, at(2)));
    await fixture.failure();
    expect(loaded()).toEqual([last]);
    expect(fixture.status).toMatchObject({ activeBundle: last, progress: { bundle: last } });
    expect(fixture.status.rollback).toBeUndefined();
    await timePasses(30 * second);
    expect(fixture.status.rollback).toMatchObject({ from: last, to: first });
  });
});

test('nothing is rolled back where nothing was healthy before, and that is told', async () => {
  const deployment = aStoredDeployment();
  const spec = { ...deployment.spec, rollback: { deadline: '30s' } };
  fixture = new BundleDeploymentFixture({ ...deployment, spec });
  fixture.have(aBundleOf(v1, undefined, at(0)));
  sick('InProgress');
  await fixture.reconcile();
  await timePasses(30 * second);
  expect(fixture.status.activeBundle).toBe(first);
  expect(progressing()).toBe(
    `Progressing False ProgressDeadlineExceeded: Bundle "${first}" is not healthy within 30s (InProgress). There is no earlier healthy Bundle to roll back to: change spec.template`,
  );
  sick();
  await timePasses(0);
  expect(progressing()).toBeUndefined();
});

test('with the health gate off, what is installed counts as healthy', async () => {
  await installed({ rollback: { deadline: '30s' } }, { reportHealth: false });
  sick('InProgress');
  await upgrade();
  expect(fixture.status.progress).toMatchObject({ secondsToHealthy: 0 });
  fixture.applier.apply.mockRejectedValue(new Error('refused'));
  await upgrade(v3, 2);
  await timePasses(30 * second);
  expect(fixture.status.rollback).toMatchObject({ from: last, to: next });
});

describe('the history', () => {
  test('names the user, the time and the first health of each revision', async () => {
    await installed({ revisionHistoryLimit: 1 });
    fixture.clock.advance(60 * second);
    const { metadata } = fixture.live;
    fixture.change({ ...fixture.live, metadata: { ...metadata, annotations: changedBy('bob') } });
    await upgrade();
    expect(fixture.status.history).toEqual([
      {
        revision: 2,
        bundle: next,
        template: v2,
        appliedAt: '2026-01-01T00:01:00Z',
        appliedBy: 'bob',
        healthyAt: '2026-01-01T00:01:00Z',
      },
      {
        revision: 1,
        bundle: first,
        template: v1,
        appliedAt: '2026-01-01T00:00:00Z',
        appliedBy: 'alice',
        healthyAt: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  test('keeps the Bundles of its revisions, and no others', async () => {
    await installed({ revisionHistoryLimit: 1 });
    await upgrade(v2, 1);
    expect(fixture.bundleNames).toEqual([first, next]);
    await upgrade(v3, 2);
    expect(fixture.bundleNames).toEqual([next, last]);
    fixture.changeSpec({ revisionHistoryLimit: 0 });
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([last]);
    expect(fixture.status).not.toHaveProperty('history');
    expect(fixture.status).not.toHaveProperty('progress');
  });

  test('keeps its Bundles also where one is made for a template that never was applied', async () => {
    await installed({ revisionHistoryLimit: 2 });
    await upgrade(v2, 1);
    await upgrade(v1, 0);
    fixture.changeSpec({ template: v3 });
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([first, next, last]);
    expect(revisions()).toEqual([first, next]);
  });

  test('begins with what was installed before it was asked for', async () => {
    await installed({});
    expect(fixture.status).not.toHaveProperty('progress');
    fixture.clock.advance(3_600 * second);
    fixture.have(aBundleOf(v2, undefined, at(1)));
    sick('InProgress');
    fixture.changeSpec({ template: v2, rollback: { deadline: '30s' } });
    await fixture.reconcile();
    expect(fixture.status.history?.[1]).toEqual({
      revision: 1,
      bundle: first,
      template: v1,
      appliedAt: '2026-01-01T00:00:00Z',
      healthyAt: '2026-01-01T00:00:00Z',
    });
    await timePasses(30 * second);
    expect(fixture.status.rollback).toMatchObject({ from: next, to: first });
  });

  test('begins with the template as it was, without what core has noted on its Bundle since', async () => {
    await installed({});
    const template = { ...v1, metadata: { annotations: { 'example.com/of': 'a user' } } };
    const made = aBundleOf(template, undefined, at(0));
    const noted = { 'core.rukpak.io/pin': 'sha256:1', 'core.rukpak.io/configured': 'true' };
    const annotations = { ...made.metadata.annotations, ...noted };
    fixture.have({ ...made, metadata: { ...made.metadata, annotations } });
    fixture.changeSpec({ template });
    await fixture.reconcile();
    fixture.have(aBundleOf(v2, undefined, at(1)));
    fixture.changeSpec({ template: v2, rollback: { deadline: '30s' } });
    await fixture.reconcile();
    expect(fixture.status.history?.[1]).toMatchObject({ bundle: nameOf(template) });
    expect(fixture.status.history?.[1]?.template).toEqual(template);
  });

  test('is not kept for the progress alone', async () => {
    await installed({ health: { progressDeadline: '1m' } });
    expect(fixture.status.progress).toEqual({
      bundle: first,
      startedAt: '2026-01-01T00:00:00Z',
      healthyAt: '2026-01-01T00:00:00Z',
      secondsToHealthy: 0,
    } satisfies BundleDeploymentStatus['progress']);
    expect(fixture.status).not.toHaveProperty('history');
    await upgrade();
    expect(fixture.bundleNames).toEqual([next]);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import {
  aBundleOf,
  nameOf,
  objects,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';

const { running } = hookStates;
const migrate = aHook('migrate', 'pre-upgrade');
const other = {
  hook: `pre-upgrade hook Job/n/migrate-1 of Bundle "${nameOf(v2)}"`,
  since: '2026-01-01T00:00:00Z',
};
const behind = { state: 'behind', other } as const;

let hooked: HookedDeployment;

beforeEach(async () => {
  hooked = new HookedDeployment(migrate);
  await hooked.settle();
  hooked.fixture.have(aBundleOf(v2));
  hooked.taken();
});

function upgrade(): void {
  hooked.fixture.changeSpec({ template: v2 });
}

const conditions = () => hooked.fixture.conditions.join('\n');

describe('a hook of an upgrade', () => {
  const waiting =
    `waiting for ${other.hook}, running since 2026-01-01T00:00:00Z, ` +
    'before pre-upgrade hook Job/n/migrate starts (time limit 300 s). Core does not end it: if it hangs, delete it';

  test('waits for the one of an earlier revision, and says for which', async () => {
    hooked.hooksDo(behind, behind);
    upgrade();
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.conditions).toContain(`Progressing False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.wakeAfter).toBe(60_000);
    hooked.fixture.clock.advance(299_000);
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.wakeAfter).toBe(1_000);
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('fails where that one does not end in its time, and has all of it in its next try', async () => {
    hooked.hooksDo(behind, behind, behind, running, running);
    upgrade();
    await hooked.settle();
    hooked.fixture.clock.advance(300_000);
    expect(await hooked.settle()).toEqual({ requeueAfter: 10_000 });
    expect(conditions()).toContain(
      `Installed False UpgradeFailed: pre-upgrade hook Job/n/migrate has failed: it could not start: ${other.hook}, ` +
        'running since 2026-01-01T00:00:00Z, did not end within 300 s. Core does not end it: if it hangs, delete it. ' +
        'Core retries it at 2026-01-01T00:05:10.000Z',
    );
    expect(hooked.fixture.applier.removeHook).not.toHaveBeenCalled();
    hooked.fixture.clock.advance(10_000);
    await hooked.settle();
    expect(conditions()).toContain(waiting);
    hooked.fixture.clock.advance(200_000);
    hooked.fixture.applier.runHook.mockResolvedValue({ ...running, since: '2026-01-01T00:08:30Z' });
    await hooked.settle();
    expect(hooked.fixture.wakeAfter).toBe(10_000);
    expect(conditions()).toContain('WaitingForHook');
  });

  test('says why the pod of the one before is not ready', async () => {
    const problem = 'Pod migrate-x: Unschedulable: 0/1 nodes are available';
    hooked.hooksDo({ ...behind, other: { ...other, problem } });
    upgrade();
    await hooked.settle();
    expect(conditions()).toContain(
      `waiting for ${other.hook}, running since 2026-01-01T00:00:00Z (${problem}), before`,
    );
  });

  test('has the name of its Bundle', async () => {
    upgrade();
    await hooked.settle();
    expect(hooked.fixture.applier.runHook).toHaveBeenCalledWith(
      expect.objectContaining({ run: `pre-upgrade ${begin}`, bundle: nameOf(v2) }),
    );
  });
});

describe('while a hook of a version that is given up still runs', () => {
  const { hook, since } = other;
  const waiting = (bundle: string) =>
    `WaitingForHook: waiting for ${hook}, running since ${since}, before Bundle "${bundle}" is applied. ` +
    'Core does not end it: if it hangs, delete it';

  beforeEach(async () => {
    hooked.hooksDo(running, running, running);
    hooked.fixture.changeSpec({ template: v2, rollback: { deadline: '1m' } });
    await hooked.settle();
    expect(hooked.taken()).toContain(`migrate in pre-upgrade ${begin}`);
    hooked.fixture.applier.runningHook.mockResolvedValue(other);
  });

  /** Core has waited, and the hook ends. */
  async function hookEnds(): Promise<void> {
    expect(hooked.taken()).toEqual([]);
    expect(hooked.fixture.wakeAfter).toBe(60_000);
    expect(hooked.fixture.status.hooks?.run).toMatchObject({ startedAt: begin });
    hooked.fixture.applier.runningHook.mockResolvedValue(undefined);
    await hooked.settle();
  }

  test('a revert is not applied before its end', async () => {
    hooked.fixture.changeSpec({ template: v1 });
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False ${waiting(nameOf(v1))}`);
    expect(hooked.fixture.conditions).toContain(`Progressing False ${waiting(nameOf(v1))}`);
    await hookEnds();
    expect(hooked.taken()).toEqual(['apply']);
    expect(conditions()).toContain('Installed True');
    expect(hooked.fixture.status.hooks).toEqual({ applied: expect.any(String) });
  });

  test('a revert finds it where the installed version has objects', async () => {
    hooked.fixture.changeSpec({ template: v1 });
    await hooked.settle();
    const [request] = hooked.fixture.applier.runningHook.mock.lastCall ?? [];
    expect(request?.namespaces).toEqual(new Set(['n']));
  });

  test('a revert of the revert goes on with it', async () => {
    hooked.fixture.changeSpec({ template: v1 });
    await hooked.settle();
    hooked.fixture.clock.advance(10_000);
    hooked.fixture.changeSpec({ template: v2 });
    await hooked.settle();
    expect(hooked.taken()).toEqual([`migrate in pre-upgrade ${begin}`]);
  });

  test('an automatic rollback is not applied before its end', async () => {
    hooked.fixture.clock.advance(60_000);
    await hooked.settle();
    expect(hooked.fixture.status.rollback).toMatchObject({ to: nameOf(v1) });
    hooked.taken();
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False ${waiting(nameOf(v1))}`);
    expect(conditions()).toContain('Progressing False RollingBack: Core began to roll back');
    await hookEnds();
    expect(hooked.taken()).toEqual(['apply']);
    expect(conditions()).toContain('Progressing False RolledBack');
  });

  test('a next version without hooks is not applied before its end, and then has all its time', async () => {
    hooked.fixture.handler.mockResolvedValue(objects);
    hooked.fixture.have(aBundleOf(v3));
    hooked.fixture.changeSpec({ template: v3 });
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False ${waiting(nameOf(v3))}`);
    hooked.fixture.clock.advance(600_000);
    await hooked.settle();
    await hookEnds();
    expect(hooked.taken()).toEqual(['apply']);
    expect(hooked.fixture.status).toMatchObject({
      activeBundle: nameOf(v3),
      progress: { bundle: nameOf(v3), startedAt: '2026-01-01T00:10:00Z' },
    });
  });

  test('not even the CRDs of a next version with hooks are applied before its end', async () => {
    hooked.fixture.have(aBundleOf(v3));
    hooked.fixture.changeSpec({ template: v3 });
    await hooked.settle();
    await hookEnds();
    expect(hooked.taken()).toContain('foundation');
  });

  test('it is not asked for where hooks are skipped', async () => {
    const { metadata } = hooked.fixture.live;
    const annotations = { ...metadata.annotations, 'core.rukpak.io/skip-hooks': 'true' };
    hooked.fixture.change({ ...hooked.fixture.live, metadata: { ...metadata, annotations } });
    hooked.fixture.changeSpec({ template: v1 });
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
  });

  test('a search for it that fails applies nothing', async () => {
    hooked.fixture.applier.runningHook.mockRejectedValue(new Error('connection refused'));
    hooked.fixture.changeSpec({ template: v1 });
    expect(await hooked.fixture.failure()).toMatchObject({ message: 'connection refused' });
    expect(hooked.taken()).toEqual([]);
  });
});

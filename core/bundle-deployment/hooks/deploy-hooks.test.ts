import { beforeEach, describe, expect, test } from 'vitest';
import {
  aBundleOf,
  nameOf,
  objects,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../platform/kube/index.ts';

const { running, succeeded, broken } = hookStates;
const both = 'pre-install,pre-upgrade';
const migrate = aHook('migrate', both);
const announce = aHook('announce', 'post-install,post-upgrade');

let hooked: HookedDeployment;

beforeEach(() => {
  hooked = new HookedDeployment(migrate, announce);
});

async function installed(): Promise<void> {
  await hooked.settle();
  expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  hooked.fixture.events.taken();
  hooked.taken();
}

describe('an install', () => {
  test('runs its hooks before and after everything is applied, and is installed only then', async () => {
    await hooked.settle();
    expect(hooked.taken()).toEqual([
      'foundation',
      `migrate in pre-install ${begin}`,
      'apply',
      `announce in post-install ${begin}`,
      'apply',
    ]);
    expect(hooked.fixture.status).toMatchObject({
      activeBundle: nameOf(v1),
      hooks: { applied: expect.any(String) },
    });
    expect(hooked.fixture.status.hooks?.run).toBeUndefined();
    expect(hooked.fixture.events.taken()).toContain(
      'Normal HookSucceeded: pre-install hook Job/n/migrate has succeeded',
    );
  });

  test('has no hook among the applied objects', async () => {
    await hooked.settle();
    for (const [request] of hooked.fixture.applier.apply.mock.calls) {
      expect(request).toMatchObject({ objects, hooks: [migrate, announce] });
    }
  });

  test('waits for a hook without being busy, and says so', async () => {
    hooked.hooksDo(running);
    expect(await hooked.settle()).toEqual({});
    expect(hooked.fixture.wakeAfter).toBe(10_000);
    const message =
      'waiting for pre-install hook Job/n/migrate: running since 2026-01-01T00:00:00Z, time limit 300 s';
    expect(hooked.fixture.conditions).toEqual(
      expect.arrayContaining([
        `Installed False WaitingForHook: ${message}`,
        `Progressing False WaitingForHook: ${message}`,
      ]),
    );
    expect(hooked.fixture.status.activeBundle).toBeUndefined();
    expect(hooked.taken()).toEqual(['foundation', `migrate in pre-install ${begin}`]);
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
    expect(hooked.fixture.conditions.join()).not.toContain('Progressing');
  });

  test('waits until the object of an earlier run is deleted', async () => {
    hooked.hooksDo({ state: 'replacing' });
    await hooked.settle();
    expect(hooked.fixture.wakeAfter).toBe(5_000);
    expect(hooked.fixture.conditions).toContain(
      'Progressing False WaitingForHook: pre-install hook Job/n/migrate waits until the object of an earlier run is deleted',
    );
  });

  test('says which of several hooks it waits for', async () => {
    hooked.fixture.handler.mockResolvedValue([aHook('b', both), aHook('a', both)]);
    hooked.hooksDo(succeeded, running);
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain(
      'waiting for pre-install hook Job/n/b (2 of 2)',
    );
  });

  test('is refused before any hook runs where its objects are', async () => {
    hooked.fixture.applier.apply.mockRejectedValueOnce(
      new TerminalError('no such kind', { reason: 'InstallFailed' }),
    );
    expect(await hooked.fixture.failure()).toMatchObject({ message: 'no such kind' });
    expect(hooked.taken()).toEqual([]);
    expect(hooked.fixture.status.hooks).toBeUndefined();
    expect(hooked.fixture.conditions).toContain('Installed False InstallFailed: no such kind');
  });

  test('names the object in the place of a hook', async () => {
    hooked.fixture.applier.runHook.mockRejectedValueOnce(new TerminalError('it is in the way'));
    await hooked.fixture.reconcile();
    expect(await hooked.fixture.failure()).toMatchObject({ message: 'it is in the way' });
    expect(hooked.fixture.conditions).toContain('Installed False InstallFailed: it is in the way');
  });

  test('names a hook that the server refuses', async () => {
    const refusal = new ApiError(404, { message: 'namespaces "n" not found' });
    hooked.fixture.applier.runHook.mockRejectedValueOnce(refusal);
    await hooked.fixture.reconcile();
    const message = 'pre-install hook Job/n/migrate cannot be created: namespaces "n" not found';
    expect(await hooked.fixture.failure()).toMatchObject({ message });
    expect(hooked.fixture.conditions).toContain(`Installed False InstallFailed: ${message}`);
  });

  test('deletes what has succeeded once all of the event have, where the policy says so', async () => {
    const keep = aHook('keep', both);
    hooked.fixture.handler.mockResolvedValue([aHook('gone', both, 'hook-succeeded'), keep]);
    hooked.hooksDo(succeeded, running);
    await hooked.settle();
    expect(hooked.fixture.applier.removeHook).not.toHaveBeenCalled();
    await hooked.settle();
    const removed = hooked.fixture.applier.removeHook.mock.calls.map(
      ([{ hook }]) => hook.metadata.name,
    );
    expect(new Set(removed)).toEqual(new Set(['gone']));
  });

  test('lets Kubernetes delete what stays once the status has the end of all of the event', async () => {
    hooked.fixture.handler.mockResolvedValue([aHook('a', both), aHook('b', both)]);
    hooked.hooksDo(succeeded, running);
    await hooked.settle();
    expect(hooked.fixture.status.hooks?.run?.completed).toBe(1);
    expect(hooked.fixture.applier.expireHook).not.toHaveBeenCalled();
    await hooked.settle();
    const expired = hooked.fixture.applier.expireHook.mock.calls.map(
      ([{ hook }]) => hook.metadata.name,
    );
    expect(new Set(expired)).toEqual(new Set(['a', 'b']));
  });
});

describe('a hook that fails', () => {
  const failure =
    'pre-install hook Job/n/migrate has failed: too many tries. Core retries it at 2026-01-01T00:00:10.000Z, ' +
    'or when the bundle or the config changes. ' +
    'To continue without hooks: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true';

  test('is reported, and retried with a growing pause', async () => {
    hooked.hooksDo(broken, broken);
    expect(await hooked.settle()).toEqual({ requeueAfter: 10_000 });
    expect(hooked.fixture.conditions).toContain(`Installed False InstallFailed: ${failure}`);
    // Whatever else wakes it.
    hooked.fixture.clock.advance(4_000);
    expect(await hooked.settle()).toEqual({ requeueAfter: 6_000 });
    expect(hooked.taken()).toEqual(['foundation', `migrate in pre-install ${begin}`]);
    hooked.fixture.clock.advance(6_000);
    expect(await hooked.settle()).toEqual({ requeueAfter: 20_000 });
    hooked.fixture.clock.advance(20_000);
    await hooked.settle();
    expect(hooked.taken()).toEqual([
      `migrate in pre-install ${begin} 1`,
      `migrate in pre-install ${begin} 2`,
      'apply',
      'announce in post-install 2026-01-01T00:00:30.000Z',
      'apply',
    ]);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('is remembered in a text that a status may have, whatever it says', async () => {
    const reason = `see https://me:secret@db\u001b[31m ${'\u{1f642}'.repeat(600)}`;
    hooked.hooksDo({ state: 'failed', reason });
    await hooked.settle();
    const { failure = '' } = hooked.fixture.status.hooks?.run ?? {};
    expect(failure).toContain('migrate has failed: see https://db');
    expect(failure).not.toContain('\u001b');
    expect(failure.length).toBeLessThanOrEqual(1_000);
    expect(failure.isWellFormed()).toBe(true);
  });

  test('is not ended by a clock that is set ahead or back, and then set right', async () => {
    const { clock } = hooked.fixture;
    hooked.fixture.changeSpec({ health: { progressDeadline: '30s' } });
    hooked.hooksDo(running, running, running, running);
    await hooked.settle();
    for (const jump of [3_600_000, -3_600_000]) {
      clock.set(clock.now() + jump);
      clock.advance(10_000);
      await hooked.settle();
      expect(hooked.fixture.conditions.join()).toContain('WaitingForHook');
      clock.set(clock.now() - jump);
    }
    clock.set(clock.now() - 3_600_000);
    clock.advance(10_000);
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain('it was not done within 30 s.');
  });

  test('is not ended by a clock that is set ahead between its beginning and the first look', async () => {
    const { clock, applier } = hooked.fixture;
    hooked.hooksDo(running);
    applier.runHook.mockImplementationOnce(async () => {
      clock.set(clock.now() + 3_600_000);
      return running;
    });
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain('WaitingForHook');
    expect(hooked.fixture.wakeAfter).toBe(10_000);
  });

  test('is waited for no longer than its time', async () => {
    hooked.fixture.changeSpec({ health: { progressDeadline: '30s' } });
    hooked.hooksDo(running, running);
    await hooked.settle();
    hooked.fixture.clock.advance(20_000);
    await hooked.settle();
    expect(hooked.fixture.wakeAfter).toBe(10_000);
    hooked.hooksDo(running);
    hooked.fixture.clock.advance(10_000);
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain(
      'Installed False InstallFailed: pre-install hook Job/n/migrate has failed: it was not done within 30 s.',
    );
  });

  test('whose pod is not ready says why, while it is waited for and when its time has passed', async () => {
    const problem =
      'Pod migrate-x: container main: ImagePullBackOff: Back-off pulling image "none:1"';
    hooked.fixture.changeSpec({ health: { progressDeadline: '30s' } });
    hooked.hooksDo({ ...running, problem }, { ...running, problem });
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain(
      `running since 2026-01-01T00:00:00Z, time limit 30 s (${problem})`,
    );
    hooked.fixture.clock.advance(30_000);
    await hooked.settle();
    expect(hooked.fixture.conditions.join()).toContain(`it was not done within 30 s (${problem}).`);
  });

  test('is deleted only where its policy says so', async () => {
    hooked.hooksDo(broken);
    await hooked.settle();
    expect(hooked.fixture.applier.removeHook).not.toHaveBeenCalled();
    hooked.fixture.handler.mockResolvedValue([aHook('migrate', both, 'hook-failed')]);
    hooked.fixture.changeSpec({ config: {} });
    hooked.hooksDo(broken);
    await hooked.settle();
    expect(hooked.fixture.applier.removeHook.mock.lastCall?.[0]).toMatchObject({
      run: `pre-install ${begin}`,
    });
  });

  test('is tried again where the clock was an hour ahead when it failed', async () => {
    const { clock } = hooked.fixture;
    const now = clock.now();
    clock.set(now + 3_600_000);
    hooked.hooksDo(hookStates.broken);
    await hooked.settle();
    hooked.taken();
    clock.set(now);
    await hooked.settle();
    expect(hooked.taken()).toContainEqual(expect.stringMatching(/^migrate in pre-install/));
  });

  test('is tried again at once where something else is to be applied', async () => {
    hooked.hooksDo(broken);
    await hooked.settle();
    const better = { ...migrate, spec: { parallelism: 2 } };
    hooked.fixture.handler.mockResolvedValue([...objects, better]);
    hooked.fixture.changeSpec({ config: { better: true } });
    await hooked.settle();
    expect(hooked.fixture.applier.runHook.mock.lastCall?.[0].hook).toEqual(better);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('leaves the last good Bundle active, before and after an upgrade is applied', async () => {
    await installed();
    hooked.fixture.have(aBundleOf(v2));
    hooked.fixture.changeSpec({ template: v2 });
    hooked.hooksDo(broken);
    await hooked.settle();
    expect(hooked.taken()).toEqual(['foundation', `migrate in pre-upgrade ${begin}`]);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
    expect(hooked.fixture.conditions.join()).toContain(
      'Installed False UpgradeFailed: pre-upgrade hook Job/n/migrate has failed',
    );
    hooked.fixture.clock.advance(10_000);
    hooked.hooksDo(succeeded, broken);
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
    expect(hooked.fixture.conditions.join()).toContain(
      'Installed False UpgradeFailed: post-upgrade hook Job/n/announce has failed',
    );
    expect(hooked.fixture.bundleNames).toContain(nameOf(v1));
  });

  test('can be skipped', async () => {
    hooked.hooksDo(broken);
    await hooked.settle();
    const { metadata } = hooked.fixture.live;
    const annotations = { 'core.rukpak.io/skip-hooks': 'true' };
    hooked.fixture.change({ ...hooked.fixture.live, metadata: { ...metadata, annotations } });
    hooked.taken();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

describe('a deployment that was restored without its status', () => {
  /** As after a restore, in the same or another cluster. */
  function restore(metadata: object = {}): void {
    const { status: _, ...deployment } = hooked.fixture.live;
    hooked.fixture.change({
      ...deployment,
      metadata: { ...deployment.metadata, ...metadata },
      status: {},
    });
    hooked.restart();
    hooked.taken();
  }

  test('runs no hooks again', async () => {
    await installed();
    restore();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
    expect(hooked.fixture.status).toMatchObject({
      activeBundle: nameOf(v1),
      hooks: { applied: expect.any(String) },
    });
  });

  test('runs those of an upgrade where it asks for something else by now', async () => {
    await installed();
    hooked.fixture.have(aBundleOf(v2));
    hooked.fixture.changeSpec({ template: v2 });
    restore();
    await hooked.settle();
    expect(hooked.taken()).toEqual([
      'foundation',
      `migrate in pre-upgrade ${begin}`,
      'apply',
      `announce in post-upgrade ${begin}`,
      'apply',
    ]);
  });

  test('runs those of an install where nothing was installed completely, or under another name', async () => {
    await installed();
    restore({ annotations: { 'core.rukpak.io/hooks-applied': 'original:digest' } });
    await hooked.settle();
    expect(hooked.taken()).toContain(`migrate in pre-install ${begin}`);
  });

  test('has no note of hooks that its bundle no longer has', async () => {
    await installed();
    expect(hooked.fixture.live.metadata.annotations).toHaveProperty([
      'core.rukpak.io/hooks-applied',
    ]);
    hooked.fixture.handler.mockResolvedValue(objects);
    hooked.fixture.changeSpec({ config: {} });
    await hooked.settle();
    expect(hooked.fixture.live.metadata.annotations).not.toHaveProperty([
      'core.rukpak.io/hooks-applied',
    ]);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import type { HookProgress } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../kube/api-error.ts';

const since = '2026-01-01T00:00:00Z';
/** When runs begin. */
const at = '2026-01-01T00:00:00.000Z';
const running = { state: 'running', since } as const;
const succeeded = { state: 'succeeded' } as const;
const broken = { state: 'failed', reason: 'too many tries' } as const;

function aHook(name: string, events: string, policy = 'before-hook-creation'): KubernetesObject {
  const annotations = {
    'core.rukpak.io/hook': events,
    'core.rukpak.io/hook-delete-policy': policy,
  };
  const metadata = { name, namespace: 'n', annotations };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata };
}

const both = 'pre-install,pre-upgrade';
const migrate = aHook('migrate', both);
const announce = aHook('announce', 'post-install,post-upgrade');

let fixture: BundleDeploymentFixture;
/** What was asked of the applier, in order. */
let calls: string[];

beforeEach(() => {
  fixture = new BundleDeploymentFixture();
  fixture.have(aBundleOf(v1));
  fixture.handler.mockResolvedValue([...objects, migrate, announce]);
  calls = [];
  recordCalls();
});

function recordCalls(): void {
  fixture.applier.apply.mockImplementation(async ({ foundationOnly = false }) => {
    calls.push(foundationOnly ? 'foundation' : 'apply');
    return { changes: 1, complete: !foundationOnly };
  });
  fixture.applier.runHook.mockImplementation(async ({ hook, run }) => {
    calls.push(`${hook.metadata.name} in ${run}`);
    return succeeded;
  });
}

/** Reconciles as long as it asks for that at once. */
async function settle(): Promise<{ requeueAfter?: number }> {
  for (;;) {
    const result = await fixture.reconcile();
    if (result.requeueAfter !== 0) return result;
  }
}

/** Since the last time; the same said twice, as at the next reconcile, is said once. */
function taken(): string[] {
  return calls.splice(0).filter((call, index, all) => call !== all[index - 1]);
}

/** The next hooks do this, first to first; those after them succeed. */
function hooksDo(...states: readonly HookProgress[]): void {
  const queue = [...states];
  fixture.applier.runHook.mockImplementation(async ({ hook, run }) => {
    calls.push(`${hook.metadata.name} in ${run}`);
    return queue.shift() ?? succeeded;
  });
}

async function installed(): Promise<void> {
  await settle();
  expect(fixture.status.activeBundle).toBe(nameOf(v1));
  fixture.events.taken();
  taken();
}

function anotherProcess(): void {
  const before = fixture;
  fixture = new BundleDeploymentFixture(before.live);
  fixture.have(...(before.client.everything.filter(isBundle) as Bundle[]));
  fixture.handler.mockImplementation(before.handler.getMockImplementation() ?? (async () => []));
  recordCalls();
}

function isBundle({ kind }: KubernetesObject): boolean {
  return kind === 'Bundle';
}

describe('an install', () => {
  test('runs its hooks before and after everything is applied, and is installed only then', async () => {
    await settle();
    expect(taken()).toEqual([
      'foundation',
      `migrate in pre-install ${at}`,
      'apply',
      `announce in post-install ${at}`,
      'apply',
    ]);
    expect(fixture.status).toMatchObject({
      activeBundle: nameOf(v1),
      hooks: { applied: expect.any(String) },
    });
    expect(fixture.status.hooks?.run).toBeUndefined();
    expect(fixture.events.taken()).toContain(
      'Normal HookSucceeded: pre-install hook Job/n/migrate has succeeded',
    );
  });

  test('has no hook among what is applied and kept', async () => {
    await settle();
    for (const [request] of fixture.applier.apply.mock.calls) {
      expect(request).toMatchObject({ objects, hooks: [migrate, announce] });
    }
  });

  test('waits for a hook without being busy, and says so', async () => {
    hooksDo(running);
    expect(await settle()).toEqual({});
    expect(fixture.wakeAfter).toBe(300_000);
    const message =
      'waiting for pre-install hook Job/n/migrate: it runs since 2026-01-01T00:00:00Z, and may take 300 s';
    expect(fixture.conditions).toEqual(
      expect.arrayContaining([
        `Installed False WaitingForHook: ${message}`,
        `Progressing False WaitingForHook: ${message}`,
      ]),
    );
    expect(fixture.status.activeBundle).toBeUndefined();
    expect(taken()).toEqual(['foundation', `migrate in pre-install ${at}`]);
    await settle();
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.conditions.join()).not.toContain('Progressing');
  });

  test('waits for the object of an earlier run to go', async () => {
    hooksDo({ state: 'replacing' });
    await settle();
    expect(fixture.wakeAfter).toBe(5_000);
    expect(fixture.conditions).toContain(
      'Progressing False WaitingForHook: pre-install hook Job/n/migrate waits for the object of an earlier run to go',
    );
  });

  test('says which of several hooks it waits for', async () => {
    fixture.handler.mockResolvedValue([aHook('b', both), aHook('a', both)]);
    hooksDo(succeeded, running);
    await settle();
    expect(fixture.conditions.join()).toContain('waiting for pre-install hook Job/n/b (2 of 2)');
  });

  test('is refused before any hook runs where its objects are', async () => {
    fixture.applier.apply.mockRejectedValueOnce(
      new TerminalError('no such kind', { reason: 'InstallFailed' }),
    );
    expect(await fixture.failure()).toMatchObject({ message: 'no such kind' });
    expect(taken()).toEqual([]);
    expect(fixture.status.hooks).toBeUndefined();
    expect(fixture.conditions).toContain('Installed False InstallFailed: no such kind');
  });

  test('says what is in the place of a hook', async () => {
    fixture.applier.runHook.mockRejectedValueOnce(new TerminalError('it is in the way'));
    await fixture.reconcile();
    expect(await fixture.failure()).toMatchObject({ message: 'it is in the way' });
    expect(fixture.conditions).toContain('Installed False InstallFailed: it is in the way');
  });

  test('names a hook that the server refuses', async () => {
    const refusal = new ApiError(404, { message: 'namespaces "n" not found' });
    fixture.applier.runHook.mockRejectedValueOnce(refusal);
    await fixture.reconcile();
    const message = 'pre-install hook Job/n/migrate cannot be created: namespaces "n" not found';
    expect(await fixture.failure()).toMatchObject({ message });
    expect(fixture.conditions).toContain(`Installed False InstallFailed: ${message}`);
  });

  test('deletes what has succeeded once all of the event have, where the policy says so', async () => {
    const keep = aHook('keep', both);
    fixture.handler.mockResolvedValue([aHook('gone', both, 'hook-succeeded'), keep]);
    hooksDo(succeeded, running);
    await settle();
    expect(fixture.applier.removeHook).not.toHaveBeenCalled();
    await settle();
    const removed = fixture.applier.removeHook.mock.calls.map(([{ hook }]) => hook.metadata.name);
    expect(new Set(removed)).toEqual(new Set(['gone']));
  });
});

describe('a hook that fails', () => {
  const failure =
    'pre-install hook Job/n/migrate has failed: too many tries. It is tried again at 2026-01-01T00:00:10.000Z, ' +
    'or at once when the bundle or the config changes; ' +
    'to go on without hooks: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true';

  test('is told of, and tried again later each time', async () => {
    hooksDo(broken, broken);
    expect(await settle()).toEqual({ requeueAfter: 10_000 });
    expect(fixture.conditions).toContain(`Installed False InstallFailed: ${failure}`);
    // Whatever else wakes it.
    fixture.clock.advance(4_000);
    expect(await settle()).toEqual({ requeueAfter: 6_000 });
    expect(taken()).toEqual(['foundation', `migrate in pre-install ${at}`]);
    fixture.clock.advance(6_000);
    expect(await settle()).toEqual({ requeueAfter: 20_000 });
    fixture.clock.advance(20_000);
    await settle();
    expect(taken()).toEqual([
      `migrate in pre-install ${at} 1`,
      `migrate in pre-install ${at} 2`,
      'apply',
      'announce in post-install 2026-01-01T00:00:30.000Z',
      'apply',
    ]);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('is waited for no longer than its time', async () => {
    fixture.changeSpec({ health: { progressDeadline: '30s' } });
    hooksDo(running, running);
    await settle();
    expect(fixture.wakeAfter).toBe(30_000);
    fixture.clock.advance(30_000);
    await settle();
    expect(fixture.conditions.join()).toContain(
      'Installed False InstallFailed: pre-install hook Job/n/migrate has failed: it was not done within 30 s.',
    );
  });

  test('is deleted only where its policy says so', async () => {
    hooksDo(broken);
    await settle();
    expect(fixture.applier.removeHook).not.toHaveBeenCalled();
    fixture.handler.mockResolvedValue([aHook('migrate', both, 'hook-failed')]);
    fixture.changeSpec({ config: {} });
    hooksDo(broken);
    await settle();
    expect(fixture.applier.removeHook.mock.lastCall?.[0]).toMatchObject({
      run: `pre-install ${at}`,
    });
  });

  test('is tried again at once where something else is to be applied', async () => {
    hooksDo(broken);
    await settle();
    const better = { ...migrate, spec: { parallelism: 2 } };
    fixture.handler.mockResolvedValue([...objects, better]);
    fixture.changeSpec({ config: { better: true } });
    await settle();
    expect(fixture.applier.runHook.mock.lastCall?.[0].hook).toEqual(better);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('leaves the last good Bundle active, before and after an upgrade is applied', async () => {
    await installed();
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    hooksDo(broken);
    await settle();
    expect(taken()).toEqual(['foundation', `migrate in pre-upgrade ${at}`]);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.conditions.join()).toContain(
      'Installed False UpgradeFailed: pre-upgrade hook Job/n/migrate has failed',
    );
    fixture.clock.advance(10_000);
    hooksDo(succeeded, broken);
    await settle();
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.conditions.join()).toContain(
      'Installed False UpgradeFailed: post-upgrade hook Job/n/announce has failed',
    );
    expect(fixture.bundleNames).toContain(nameOf(v1));
  });

  test('can be gone on without', async () => {
    hooksDo(broken);
    await settle();
    const { metadata } = fixture.live;
    const annotations = { 'core.rukpak.io/skip-hooks': 'true' };
    fixture.change({ ...fixture.live, metadata: { ...metadata, annotations } });
    taken();
    await settle();
    expect(taken()).toEqual(['apply']);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

describe('what is installed', () => {
  beforeEach(installed);

  test('is kept in place without its hooks, in a new process too', async () => {
    await settle();
    anotherProcess();
    await settle();
    expect(taken()).toEqual(['apply']);
  });

  test('runs upgrade hooks for another Bundle', async () => {
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2 });
    await settle();
    expect(taken()).toEqual([
      'foundation',
      `migrate in pre-upgrade ${at}`,
      'apply',
      `announce in post-upgrade ${at}`,
      'apply',
    ]);
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('runs upgrade hooks for what a config changes, and for nothing else that changes', async () => {
    fixture.changeSpec({ config: { unused: true } });
    await settle();
    expect(taken()).toEqual(['apply']);
    fixture.handler.mockResolvedValue([migrate, announce]);
    fixture.changeSpec({ config: { used: true } });
    await settle();
    expect(taken()).toContain(`migrate in pre-upgrade ${at}`);
  });

  test('tells the runs of two upgrades to the same from each other', async () => {
    const runs: string[] = [];
    for (const template of [v2, v1, v2]) {
      fixture.clock.advance(1_000);
      if (template === v2) fixture.have(aBundleOf(v2));
      if (template === v1) fixture.have(aBundleOf(v1));
      fixture.changeSpec({ template });
      await settle();
      runs.push(...taken().filter((call) => call.startsWith('migrate')));
    }
    expect(new Set(runs).size).toBe(3);
  });

  test('is gone back to by a rollback without hooks', async () => {
    fixture.have(aBundleOf(v2));
    fixture.changeSpec({ template: v2, rollback: { deadline: '1m' } });
    fixture.applier.health.mockReturnValue([{ message: 'sick' }]);
    await settle();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    taken();
    fixture.clock.advance(60_000);
    await settle();
    await settle();
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(taken()).toEqual(['apply']);
  });

  test('forgets hooks that it has no longer', async () => {
    fixture.handler.mockResolvedValue(objects);
    fixture.changeSpec({ config: { hooks: false } });
    await settle();
    expect(fixture.status).not.toHaveProperty('hooks');
    fixture.handler.mockResolvedValue([...objects, migrate]);
    fixture.changeSpec({ config: { hooks: true } });
    taken();
    await settle();
    expect(taken()).toContain(`migrate in pre-upgrade ${at}`);
  });

  test('from before hooks were known runs none until something changes', async () => {
    const { hooks: _, ...status } = fixture.status;
    fixture.change({ ...fixture.live, status });
    await settle();
    expect(taken()).toEqual(['apply']);
    expect(fixture.status.hooks?.applied).toEqual(expect.any(String));
  });
});

test('a process that ends at any status runs no hook twice and leaves none out', async () => {
  const hooks = [aHook('a', both), aHook('b', both), announce];
  fixture.handler.mockResolvedValue([...objects, ...hooks]);
  const done: string[] = [];
  for (let reconciles = 0; fixture.status.activeBundle === undefined; reconciles += 1) {
    expect(reconciles).toBeLessThan(20);
    fixture.applier.runHook.mockImplementation(async ({ hook }) => {
      done.push(hook.metadata.name ?? '');
      return succeeded;
    });
    await fixture.reconcile();
    anotherProcess();
  }
  expect(done).toEqual(['a', 'b', 'announce']);
});

test('a hook that was under way when a process ended is found by its run', async () => {
  hooksDo(running);
  await settle();
  const [begun] = taken().slice(-1);
  anotherProcess();
  fixture.clock.advance(60_000);
  hooksDo(running);
  await settle();
  expect(taken()).toEqual([begun]);
  expect(fixture.wakeAfter).toBe(240_000);
});

test('a paused deployment runs no hook', async () => {
  fixture.changeSpec({ paused: true });
  await settle();
  expect(taken()).toEqual([]);
});

describe('a plan', () => {
  beforeEach(() => fixture.changeSpec({ upgradePolicy: 'Manual' }));

  test('names the hooks that would run; none does before it is approved', async () => {
    await settle();
    expect(taken()).toEqual([]);
    expect(fixture.status.plan?.hooks).toEqual([
      'pre-install hook Job/n/migrate',
      'post-install hook Job/n/announce',
    ]);
    const { metadata, status } = fixture.live;
    const annotations = { 'core.rukpak.io/approve': status?.plan?.digest ?? '' };
    fixture.change({ ...fixture.live, metadata: { ...metadata, annotations } });
    await settle();
    expect(taken()).toContain(`migrate in pre-install ${at}`);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

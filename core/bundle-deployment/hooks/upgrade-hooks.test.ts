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

const { running, succeeded } = hookStates;
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

describe('what is installed', () => {
  beforeEach(installed);

  test('is kept in place without its hooks, in a new process too', async () => {
    await hooked.settle();
    hooked.restart();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
  });

  test('runs upgrade hooks for another Bundle', async () => {
    hooked.fixture.have(aBundleOf(v2));
    hooked.fixture.changeSpec({ template: v2 });
    await hooked.settle();
    expect(hooked.taken()).toEqual([
      'foundation',
      `migrate in pre-upgrade ${begin}`,
      'apply',
      `announce in post-upgrade ${begin}`,
      'apply',
    ]);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('runs upgrade hooks for a change of objects by a config, and for no other change', async () => {
    hooked.fixture.changeSpec({ config: { unused: true } });
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
    hooked.fixture.handler.mockResolvedValue([migrate, announce]);
    hooked.fixture.changeSpec({ config: { used: true } });
    await hooked.settle();
    expect(hooked.taken()).toContain(`migrate in pre-upgrade ${begin}`);
  });

  test('distinguishes the runs of two upgrades to the same Bundle', async () => {
    const runs: string[] = [];
    for (const template of [v2, v1, v2]) {
      hooked.fixture.clock.advance(1_000);
      if (template === v2) hooked.fixture.have(aBundleOf(v2));
      if (template === v1) hooked.fixture.have(aBundleOf(v1));
      hooked.fixture.changeSpec({ template });
      await hooked.settle();
      runs.push(...hooked.taken().filter((call) => call.startsWith('migrate')));
    }
    expect(new Set(runs).size).toBe(3);
  });

  test('is restored by a rollback without hooks', async () => {
    hooked.fixture.have(aBundleOf(v2));
    hooked.fixture.changeSpec({ template: v2, rollback: { deadline: '1m' } });
    hooked.fixture.applier.health.mockReturnValue([{ message: 'sick' }]);
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
    hooked.taken();
    hooked.fixture.clock.advance(60_000);
    await hooked.settle();
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
    expect(hooked.taken()).toEqual(['apply']);
  });

  test('forgets hooks that it has no longer', async () => {
    hooked.fixture.handler.mockResolvedValue(objects);
    hooked.fixture.changeSpec({ config: { hooks: false } });
    await hooked.settle();
    expect(hooked.fixture.status).not.toHaveProperty('hooks');
    hooked.fixture.handler.mockResolvedValue([...objects, migrate]);
    hooked.fixture.changeSpec({ config: { hooks: true } });
    hooked.taken();
    await hooked.settle();
    expect(hooked.taken()).toContain(`migrate in pre-upgrade ${begin}`);
  });

  test('by a version without hooks runs none until something changes', async () => {
    const { hooks: _, ...status } = hooked.fixture.status;
    hooked.fixture.change({ ...hooked.fixture.live, status });
    await hooked.settle();
    expect(hooked.taken()).toEqual(['apply']);
    expect(hooked.fixture.status.hooks?.applied).toEqual(expect.any(String));
  });
});

test('a process that ends at any status runs no hook twice and leaves none out', async () => {
  const hooks = [aHook('a', both), aHook('b', both), announce];
  hooked.fixture.handler.mockResolvedValue([...objects, ...hooks]);
  const done: string[] = [];
  for (let reconciles = 0; hooked.fixture.status.activeBundle === undefined; reconciles += 1) {
    expect(reconciles).toBeLessThan(20);
    hooked.fixture.applier.runHook.mockImplementation(async ({ hook }) => {
      done.push(hook.metadata.name ?? '');
      return succeeded;
    });
    await hooked.fixture.reconcile();
    hooked.restart();
  }
  expect(done).toEqual(['a', 'b', 'announce']);
});

test('a class that makes something else of the same each time keeps nobody busy', async () => {
  await installed();
  const { facts, handler } = hooked.fixture;
  // Drops the remembered rendering.
  facts.prepare.mockResolvedValue({ version: undefined, read: async () => ({ inputs: [] }) });
  let lot = 0;
  handler.mockImplementation(async () => [...objects, aHook(`migrate-${lot++}`, 'pre-upgrade')]);
  hooked.fixture.changeSpec({ config: { lots: true } });
  const looks: unknown[] = [];
  for (let look = 0; look < 3; look += 1) looks.push(await hooked.fixture.reconcile());
  expect(looks).toEqual([{ requeueAfter: 0 }, {}, {}]);
  expect(hooked.fixture.status.conditions).toContainEqual(
    expect.objectContaining({
      type: 'Installed',
      message: 'pre-upgrade hooks start in 5 s, because the content has just changed',
    }),
  );
  expect(hooked.fixture.wakeAfter).toBe(5_000);
});

test('a hook that was under way when a process ended is found by its run', async () => {
  hooked.hooksDo(running);
  await hooked.settle();
  const [begun] = hooked.taken().slice(-1);
  hooked.restart();
  hooked.fixture.clock.advance(250_000);
  hooked.hooksDo(running);
  await hooked.settle();
  expect(hooked.taken()).toEqual([begun]);
  expect(hooked.fixture.wakeAfter).toBe(50_000);
});

test('a paused deployment runs no hook', async () => {
  hooked.fixture.changeSpec({ paused: true });
  await hooked.settle();
  expect(hooked.taken()).toEqual([]);
});

describe('a plan', () => {
  beforeEach(() => hooked.fixture.changeSpec({ upgradePolicy: 'Manual' }));

  test('names the hooks that would run; none does before it is approved', async () => {
    await hooked.settle();
    expect(hooked.taken()).toEqual([]);
    expect(hooked.fixture.status.plan?.hooks).toEqual([
      'pre-install hook Job/n/migrate',
      'post-install hook Job/n/announce',
    ]);
    const { metadata, status } = hooked.fixture.live;
    const annotations = { 'core.rukpak.io/approve': status?.plan?.digest ?? '' };
    hooked.fixture.change({ ...hooked.fixture.live, metadata: { ...metadata, annotations } });
    await hooked.settle();
    expect(hooked.taken()).toContain(`migrate in pre-install ${begin}`);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

describe('the kinds of what hooks need', () => {
  const groupKinds = ['CustomResourceDefinition.apiextensions.k8s.io', 'Job.batch'];

  test('are in the status before the first hook has ended', async () => {
    const { applier } = hooked.fixture;
    applier.apply.mockResolvedValue({ changes: 1, complete: false, groupKinds });
    applier.runHook.mockResolvedValue({ state: 'running', since: '' });
    await hooked.settle();
    expect(hooked.fixture.status.groupKinds).toEqual(groupKinds);
  });

  test('are there also when the API server refuses some of it', async () => {
    hooked.fixture.applier.apply.mockImplementation(async ({ remember }) => {
      remember?.({ groupKinds });
      throw new Error('a policy says no');
    });
    await hooked.fixture.failure();
    expect(hooked.fixture.status.groupKinds).toEqual(groupKinds);
  });
});

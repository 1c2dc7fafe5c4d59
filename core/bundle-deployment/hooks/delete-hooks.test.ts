import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  v1,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../platform/kube/index.ts';

const deleteObjects = 'core.rukpak.io/delete-objects';
const deletionTimestamp = '2026-01-01T00:00:00Z';
const { succeeded } = hookStates;

let hooked: HookedDeployment;

beforeEach(async () => {
  hooked = new HookedDeployment(aHook('drain', 'pre-delete'), aHook('tidy', 'post-delete'));
  await hooked.settle();
  listsBundles();
  hooked.taken();
  hooked.fixture.events.taken();
});

/** The fake API server has only one resource. */
function listsBundles(): void {
  const { client } = hooked.fixture;
  vi.spyOn(client, 'list').mockImplementation(async () => ({
    metadata: { resourceVersion: '1' },
    items: client.everything.filter(({ kind }) => kind === 'Bundle'),
  }));
}

function deleteIt(change: KubernetesObject['metadata'] = {}): void {
  const { metadata } = hooked.fixture.live;
  const finalizers = [...(metadata.finalizers ?? []), ...(change.finalizers ?? [])];
  hooked.fixture.change({
    ...hooked.fixture.live,
    metadata: { ...metadata, deletionTimestamp, ...change, finalizers },
  });
}

function isHeld(): boolean {
  return hooked.fixture.live.metadata.finalizers?.includes(deleteObjects) === true;
}

test('the status counts the hooks that the deletion is to run', async () => {
  expect(hooked.fixture.status.hooks?.onDelete).toBe(2);
  hooked.fixture.handler.mockResolvedValue(objects);
  hooked.fixture.changeSpec({ config: {} });
  await hooked.settle();
  await hooked.settle();
  expect(hooked.fixture.status).not.toHaveProperty('hooks');
});

test('hooks run before and after everything is deleted', async () => {
  deleteIt();
  await hooked.settle();
  expect(hooked.taken()).toEqual([
    `drain in pre-delete ${begin}`,
    'remove',
    `tidy in post-delete ${begin}`,
    'remove',
  ]);
  expect(isHeld()).toBe(false);
});

test('those after it wait until everything is gone', async () => {
  deleteIt();
  const waitsFor = { message: 'deletion waits for pods', since: -60_000 };
  hooked.fixture.applier.remove.mockResolvedValueOnce({ waitsFor });
  await hooked.settle();
  expect(hooked.taken()).toEqual([`drain in pre-delete ${begin}`]);
  expect(hooked.fixture.conditions).toContain(
    'Progressing False Deleting: deletion waits for pods',
  );
  await hooked.settle();
  expect(hooked.taken()).toEqual(['remove', `tidy in post-delete ${begin}`, 'remove']);
  expect(isHeld()).toBe(false);
});

describe('once objects are being deleted', () => {
  const waitsFor = { message: 'deletion waits for pods', since: -60_000 };

  beforeEach(async () => {
    deleteIt();
    hooked.fixture.applier.remove.mockResolvedValueOnce({ waitsFor });
    await hooked.settle();
    expect(hooked.taken()).toEqual([`drain in pre-delete ${begin}`]);
  });

  /** As when the class renders for the APIs of the cluster, and the CRDs are deleted already. */
  function renderOthers(): void {
    const prepared = { version: 'without CRDs', read: async () => ({ inputs: [] }) };
    hooked.fixture.facts.prepare.mockResolvedValue(prepared);
    const hooks = [aHook('drain', 'pre-delete'), aHook('more', 'pre-delete')];
    hooked.fixture.handler.mockResolvedValue([...hooks, aHook('tidy', 'post-delete')]);
  }

  test('no hook runs that comes before, whatever the class renders then', async () => {
    renderOthers();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove', `tidy in post-delete ${begin}`, 'remove']);
    expect(isHeld()).toBe(false);
  });

  test('nor after a restart of core', async () => {
    hooked.restart();
    listsBundles();
    renderOthers();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove', `tidy in post-delete ${begin}`, 'remove']);
  });

  test('nothing is rendered for hooks that have run', async () => {
    hooked.fixture.applier.remove.mockResolvedValueOnce({ waitsFor });
    hooked.fixture.facts.prepare.mockRejectedValue(new Error('Secret "values" does not exist'));
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(
      'Progressing False Deleting: deletion waits for pods',
    );
  });
});

describe('a hook before the deletion', () => {
  test('is waited for', async () => {
    deleteIt();
    hooked.hooksDo({ state: 'running', since: deletionTimestamp });
    expect(await hooked.settle()).toEqual({});
    expect(hooked.fixture.conditions).toContain(
      'Progressing False Deleting: deletion is blocked: waiting for pre-delete hook Job/n/drain: running since 2026-01-01T00:00:00Z, time limit 300 s',
    );
    expect(hooked.fixture.applier.remove).not.toHaveBeenCalled();
  });

  test('that fails holds the deletion up, names the way out and is tried again', async () => {
    deleteIt();
    hooked.hooksDo({ state: 'failed', reason: 'no' });
    expect(await hooked.settle()).toEqual({ requeueAfter: 10_000 });
    expect(hooked.fixture.conditions.at(-1)).toBe(
      'Progressing False Deleting: deletion is blocked: pre-delete hook Job/n/drain has failed: no. ' +
        'Core retries it at 2026-01-01T00:00:10.000Z, or when the bundle or the config changes. ' +
        'To continue without hooks: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true',
    );
    expect(hooked.fixture.applier.remove).not.toHaveBeenCalled();
    hooked.fixture.clock.advance(10_000);
    await hooked.settle();
    expect(isHeld()).toBe(false);
  });

  test('that cannot be made holds the deletion up too', async () => {
    deleteIt();
    hooked.hooksDo(new TerminalError('it is in the way'));
    await hooked.fixture.reconcile();
    expect(await hooked.fixture.failure()).toBeDefined();
    expect(hooked.fixture.wakeAfter).toBe(60_000);
    expect(hooked.fixture.conditions.at(-1)).toBe(
      'Progressing False Deleting: deletion failed, core retries its hooks: it is in the way; ' +
        'to delete without them: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true',
    );
    expect(isHeld()).toBe(true);
  });

  test('is left out where people say so', async () => {
    deleteIt();
    hooked.hooksDo({ state: 'failed', reason: 'no' });
    await hooked.settle();
    deleteIt({ annotations: { 'core.rukpak.io/skip-hooks': 'true' } });
    hooked.taken();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove']);
    expect(isHeld()).toBe(false);
  });
});

test.each([
  [
    'fails',
    { state: 'failed', reason: 'no' } as const,
    'post-delete hook Job/n/tidy has failed: no',
  ],
  [
    'is refused',
    new ApiError(404, { message: 'namespaces "n" not found' }),
    'post-delete hook Job/n/tidy cannot be created: namespaces "n" not found',
  ],
])('a hook after the deletion that %s is told of, and no more', async (_, outcome, why) => {
  deleteIt();
  hooked.hooksDo(succeeded, outcome);
  await hooked.settle();
  expect(hooked.fixture.events.taken()).toContain(
    `Warning HookFailed: Core completes the deletion, although ${why}. Core does not retry the hook`,
  );
  expect(isHeld()).toBe(false);
});

test('hooks after the deletion go on, whatever the class renders meanwhile', async () => {
  deleteIt();
  hooked.hooksDo(succeeded, { state: 'running', since: begin });
  await hooked.settle();
  const prepared = { version: 'without CRDs', read: async () => ({ inputs: [] }) };
  hooked.fixture.facts.prepare.mockResolvedValue(prepared);
  hooked.fixture.handler.mockResolvedValue([aHook('tidy', 'post-delete')]);
  hooked.fixture.clock.advance(10_000);
  hooked.taken();
  await hooked.settle();
  expect(hooked.taken()).toEqual(['remove', `tidy in post-delete ${begin}`, 'remove']);
  expect(isHeld()).toBe(false);
});

describe('no hook runs', () => {
  test('where the objects stay', async () => {
    hooked.fixture.changeSpec({ deletionPolicy: 'Orphan' });
    deleteIt();
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove']);
    expect(hooked.fixture.events.taken()).toEqual([]);
  });

  test('where the Bundle is gone, and that is told of', async () => {
    const bundle = { ...aBundleOf(v1), metadata: { name: nameOf(v1) } };
    deleteIt();
    hooked.fixture.client.drop(bundle.metadata);
    hooked.fixture.bundles.replace([] as Bundle[], '1');
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove']);
    expect(hooked.fixture.events.taken()).toEqual([
      `Warning HooksSkipped: Core skips the hooks of this deletion: Bundle "${nameOf(v1)}", which contains them, no longer exists`,
    ]);
    expect(isHeld()).toBe(false);
  });

  test('where it is deleted in the foreground, and that is told of', async () => {
    deleteIt({ finalizers: ['foregroundDeletion'] });
    await hooked.settle();
    expect(hooked.taken()).toEqual(['remove']);
    expect(hooked.fixture.events.taken().join()).toContain(
      '--cascade=foreground deletes its Bundles',
    );
  });

  test('and nothing is asked for where there is none', async () => {
    const plain = aStoredDeployment({
      metadata: { deletionTimestamp, finalizers: [deleteObjects] },
      status: { activeBundle: nameOf(v1) },
    });
    hooked.fixture = new BundleDeploymentFixture(plain);
    await hooked.settle();
    expect(hooked.fixture.load).not.toHaveBeenCalled();
    expect(hooked.fixture.client.calls).toEqual(['get', 'list', 'patch']);
  });
});

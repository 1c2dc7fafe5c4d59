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
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { HookProgress } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../kube/api-error.ts';

const deleteObjects = 'core.rukpak.io/delete-objects';
const deletionTimestamp = '2026-01-01T00:00:00Z';
const succeeded = { state: 'succeeded' } as const;
const at = '2026-01-01T00:00:00.000Z';

function aHook(name: string, events: string): KubernetesObject {
  const annotations = { 'core.rukpak.io/hook': events };
  const metadata = { name, namespace: 'n', annotations };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata };
}

const hooks = [aHook('drain', 'pre-delete'), aHook('tidy', 'post-delete')];
let fixture: BundleDeploymentFixture;
let calls: string[];

beforeEach(async () => {
  fixture = new BundleDeploymentFixture();
  fixture.have(aBundleOf(v1));
  fixture.handler.mockResolvedValue([...objects, ...hooks]);
  await settle();
  listsBundles();
  calls = [];
  hooksDo();
  fixture.applier.remove.mockImplementation(async () => {
    calls.push('remove');
    return {};
  });
  fixture.events.taken();
});

/** The fake has one resource only. */
function listsBundles(): void {
  const { client } = fixture;
  vi.spyOn(client, 'list').mockImplementation(async () => ({
    metadata: { resourceVersion: '1' },
    items: client.everything.filter(({ kind }) => kind === 'Bundle'),
  }));
}

async function settle(): Promise<{ requeueAfter?: number }> {
  for (;;) {
    const result = await fixture.reconcile();
    if (result.requeueAfter !== 0) return result;
  }
}

/** The next hooks do this, first to first; those after them succeed. */
function hooksDo(...states: readonly (HookProgress | Error)[]): void {
  const queue = [...states];
  fixture.applier.runHook.mockImplementation(async ({ hook, run }) => {
    calls.push(`${hook.metadata.name} in ${run}`);
    const next = queue.shift() ?? succeeded;
    if (next instanceof Error) throw next;
    return next;
  });
}

function deleteIt(change: KubernetesObject['metadata'] = {}): void {
  const { metadata } = fixture.live;
  const finalizers = [...(metadata.finalizers ?? []), ...(change.finalizers ?? [])];
  fixture.change({
    ...fixture.live,
    metadata: { ...metadata, deletionTimestamp, ...change, finalizers },
  });
}

function taken(): string[] {
  return calls.splice(0).filter((call, index, all) => call !== all[index - 1]);
}

function isHeld(): boolean {
  return fixture.live.metadata.finalizers?.includes(deleteObjects) === true;
}

test('a deployment whose objects have delete hooks has the finalizer', async () => {
  expect(isHeld()).toBe(true);
  expect(fixture.status.hooks?.onDelete).toBe(2);
  expect(fixture.applier.apply.mock.lastCall?.[0].ordered).toBe(true);
  fixture.handler.mockResolvedValue(objects);
  fixture.changeSpec({ config: {} });
  await settle();
  await settle();
  expect(isHeld()).toBe(false);
  expect(fixture.status).not.toHaveProperty('hooks');
});

test('hooks run before and after everything is deleted', async () => {
  deleteIt();
  await settle();
  expect(taken()).toEqual([
    `drain in pre-delete ${at}`,
    'remove',
    `tidy in post-delete ${at}`,
    'remove',
  ]);
  expect(isHeld()).toBe(false);
});

test('those after it wait until everything is gone', async () => {
  deleteIt();
  const waitsFor = { message: 'deletion waits for pods', since: 0 };
  fixture.applier.remove.mockResolvedValueOnce({ waitsFor });
  await settle();
  expect(taken()).toEqual([`drain in pre-delete ${at}`]);
  expect(fixture.conditions).toContain('Progressing False Deleting: deletion waits for pods');
  await settle();
  expect(taken()).toEqual(['remove', `tidy in post-delete ${at}`, 'remove']);
  expect(isHeld()).toBe(false);
});

describe('a hook before the deletion', () => {
  test('is waited for', async () => {
    deleteIt();
    hooksDo({ state: 'running', since: deletionTimestamp });
    expect(await settle()).toEqual({});
    expect(fixture.conditions).toContain(
      'Progressing False Deleting: deletion is waiting for pre-delete hook Job/n/drain: it runs since 2026-01-01T00:00:00Z, and may take 300 s',
    );
    expect(fixture.applier.remove).not.toHaveBeenCalled();
  });

  test('that fails holds the deletion up, names the way out and is tried again', async () => {
    deleteIt();
    hooksDo({ state: 'failed', reason: 'no' });
    expect(await settle()).toEqual({ requeueAfter: 10_000 });
    expect(fixture.conditions.at(-1)).toBe(
      'Progressing False Deleting: deletion waits: pre-delete hook Job/n/drain has failed: no. ' +
        'It is tried again at 2026-01-01T00:00:10.000Z, or at once when the bundle or the config changes; ' +
        'to go on without hooks: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true',
    );
    expect(fixture.applier.remove).not.toHaveBeenCalled();
    fixture.clock.advance(10_000);
    await settle();
    expect(isHeld()).toBe(false);
  });

  test('that cannot be made holds the deletion up too', async () => {
    deleteIt();
    hooksDo(new TerminalError('it is in the way'));
    await fixture.reconcile();
    expect(await fixture.failure()).toBeDefined();
    expect(fixture.conditions.at(-1)).toBe(
      'Progressing False Deleting: deletion waits for another try of its hooks: it is in the way; ' +
        'to delete without them: kubectl annotate bundledeployment demo core.rukpak.io/skip-hooks=true',
    );
    expect(isHeld()).toBe(true);
  });

  test('is left out where people say so', async () => {
    deleteIt();
    hooksDo({ state: 'failed', reason: 'no' });
    await settle();
    deleteIt({ annotations: { 'core.rukpak.io/skip-hooks': 'true' } });
    taken();
    await settle();
    expect(taken()).toEqual(['remove']);
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
  hooksDo(succeeded, outcome);
  await settle();
  expect(fixture.events.taken()).toContain(
    `Warning HookFailed: everything is deleted, though ${why}`,
  );
  expect(isHeld()).toBe(false);
});

describe('no hook runs', () => {
  test('where the objects stay', async () => {
    fixture.changeSpec({ deletionPolicy: 'Orphan' });
    deleteIt();
    await settle();
    expect(taken()).toEqual(['remove']);
    expect(fixture.events.taken()).toEqual([]);
  });

  test('where the Bundle is gone, and that is told of', async () => {
    const bundle = { ...aBundleOf(v1), metadata: { name: nameOf(v1) } };
    deleteIt();
    fixture.client.drop(bundle.metadata);
    fixture.bundles.replace([] as Bundle[]);
    await settle();
    expect(taken()).toEqual(['remove']);
    expect(fixture.events.taken()).toEqual([
      `Warning HooksSkipped: the hooks of the deletion do not run: Bundle "${nameOf(v1)}", which has them, is gone`,
    ]);
    expect(isHeld()).toBe(false);
  });

  test('where it is deleted in the foreground, and that is told of', async () => {
    deleteIt({ finalizers: ['foregroundDeletion'] });
    await settle();
    expect(taken()).toEqual(['remove']);
    expect(fixture.events.taken().join()).toContain('it is deleted in the foreground');
  });

  test('and nothing is asked for where there is none', async () => {
    const plain = aStoredDeployment({
      metadata: { deletionTimestamp, finalizers: [deleteObjects] },
      status: { activeBundle: nameOf(v1) },
    });
    fixture = new BundleDeploymentFixture(plain);
    await settle();
    expect(fixture.load).not.toHaveBeenCalled();
    expect(fixture.client.calls).toEqual(['list', 'patch']);
  });
});
